// From items to batches of pixels. Files are read and hashed on a thread of their own (a bounded queue);
// whoever asks for a batch decodes and resizes until one is full. So the threads that encode do all the
// work, none beside them takes their cores, and one decodes while another encodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encoders/tiles.h"
#include "probe/core/item.h"

namespace probe {

// One item that was looked at.
struct LoadedItem {
  std::size_t index = 0;        // into the items
  std::string content_sha256;   // of the file's bytes; empty if they could not be read
  std::string failure;          // why there are no pixels; empty if all is well
};

// One picture in a batch. An item's pictures follow each other, in one batch or in several.
struct LoadedView {
  std::size_t index = 0;  // of the item
  View view;
  bool last = false;      // the item has no more; it stands in `items` of this batch
};

// Items whose vectors are missing, with their pixels, ready for the tower.
struct ImageBatch {
  std::size_t number = 0;            // 0, 1, ...: what is in a batch does not depend on who asked for it when
  std::vector<LoadedItem> items;     // in the order of their last pictures
  std::vector<LoadedView> views;
  std::vector<PatchWindow> windows;  // of each view, if the scheme drops patches (anyres); else empty
  std::unique_ptr<float[]> pixels;   // [views, 3, s, s]
  std::vector<LoadedItem> done;      // known already, or failed
};

class ImageLoader {
 public:
  // Starts to read at once. `known` says whether the vector of a content hash exists already (called from
  // the reading thread). Items with equal content are decoded once: the first of them stands in a batch's
  // `items` or, with a reason that holds for all, in `done`.
  // A batch has at most `batch_size` pictures, however many tiles an image has.
  // `fast_side`: as decode_image takes it.
  // The arguments must outlive the loader.
  ImageLoader(const std::vector<Item>& items, const ImageSpec& spec, const Tiling& tiling,
              int batch_size, int fast_side, std::function<bool(const std::string&)> known);
  ~ImageLoader();

  // The next batch, or nullptr at the end or after stop(). May be called from several threads at a time.
  // Rethrows what reading or decoding threw, if that is not about the item alone.
  std::unique_ptr<ImageBatch> next();

  // No more batches, for anyone.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace probe
