// Batches side by side through one tower, their features in order.
#pragma once

#include <functional>

#include "encoders/encoder.h"
#include "probe/cli/image_loader.h"

namespace probe {

// How threads share the work of a tower of so many `tokens`: each reads batches of its own, decodes and encodes them.
struct SideBySide {
  EncoderOptions options;      // of the tower, as each of the threads uses it
  int threads = 1;
  bool one_at_a_time = false;  // CUDA: the others decode while one has the device
};

// Threads as in EncoderOptions (0: all cores). A batch has at most `batch_size` pictures, and on a CPU no more than a
// tower needs to be at its fastest. Compared with a share of each batch for each thread, none waits for others, and B/32
// (bfloat16, AMX, 8 pictures a thread instead of 4) takes 13 % less time a picture.
SideBySide side_by_side(EncoderOptions options, int tokens);

// Every batch of `loader` goes to `record` with its features, in the loader's order, from one thread at a time.
// `tower` is called once, before the first picture. Rethrows the first error of any thread.
void encode_in_order(ImageLoader& loader, const SideBySide& side, const std::function<Encoder&()>& tower,
                     const std::function<void(const ImageBatch&, const ImageFeatures&)>& record);

}  // namespace probe
