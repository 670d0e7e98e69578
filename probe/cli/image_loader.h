// Reading, hashing, decoding and resizing on a thread of its own, while the encoder works
// on the batch before (a bounded queue between them).
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
  std::vector<LoadedItem> items;  // in the order of their last pictures
  std::vector<LoadedView> views;  // as many as there are pictures in `pixels`
  std::vector<float> pixels;      // [count, 3, s, s]
  std::vector<LoadedItem> done;   // known already or failed; what was shown of them is void
};

class ImageLoader {
 public:
  // Starts at once. `known` says whether the vector of a content hash exists already
  // (called from the loader's thread). Items with equal content are encoded once.
  // A batch has at most `batch_size` pictures, however many tiles an image has.
  // `fast_side`: as decode_image takes it.
  // The arguments must outlive the loader.
  ImageLoader(const std::vector<Item>& items, const ImageSpec& spec, const Tiling& tiling,
              int batch_size, int fast_side, std::function<bool(const std::string&)> known);
  ~ImageLoader();  // stops early if need be

  // The next batch, or nullptr at the end; as one with those after it that are ready too, `most` in all.
  // Rethrows what the thread threw.
  std::unique_ptr<ImageBatch> next(int most = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace probe
