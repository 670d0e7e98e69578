// Reading, hashing, decoding and resizing on a thread of its own, while the encoder works
// on the batch before (a bounded queue between them).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encoders/spec.h"
#include "probe/core/item.h"

namespace probe {

// One item that was looked at.
struct LoadedItem {
  std::size_t index = 0;        // into the items
  std::string content_sha256;   // of the file's bytes; empty if they could not be read
  std::string failure;          // why there are no pixels; empty if all is well
};

// Items whose vectors are missing, with their pixels, ready for the tower.
struct ImageBatch {
  std::vector<LoadedItem> items;  // as many as there are images in `pixels`
  std::vector<float> pixels;      // [count, 3, s, s]
  std::vector<LoadedItem> done;   // known already or failed; no pixels
};

class ImageLoader {
 public:
  // Starts at once. `known` says whether the vector of a content hash exists already
  // (called from the loader's thread). Items with equal content are encoded once.
  // The arguments must outlive the loader.
  ImageLoader(const std::vector<Item>& items, const ImageSpec& spec, int batch_size,
              std::function<bool(const std::string&)> known);
  ~ImageLoader();  // stops early if need be

  // The next batch, or nullptr at the end. Rethrows what the thread threw.
  std::unique_ptr<ImageBatch> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace probe
