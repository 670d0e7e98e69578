// Batches side by side through one tower, their features in order.
#pragma once

#include <functional>

#include "encoders/encoder.h"
#include "probe/cli/image_loader.h"

namespace probe {

// Threads (of EncoderOptions, 0: all cores) that each encode batches of their own, and the options they share. A batch
// has at most `batch_size` pictures, and no more than a tower of so many `tokens` needs to be at its fastest. Compared
// with a share of each batch for each thread, none waits for others, and B/32 (bfloat16, AMX, 8 pictures a thread
// instead of 4) takes 13 % less time a picture. CUDA: one thread, whole batches.
struct SideBySide {
  EncoderOptions options;
  int threads = 1;
};
SideBySide side_by_side(EncoderOptions options, int tokens);

// Every batch of `loader` goes to `record` with its features, in the loader's order, from one thread at a time.
// `tower` is called once, before the first picture. Rethrows the first error of any thread.
void encode_in_order(ImageLoader& loader, int threads, const std::function<Encoder&()>& tower,
                     const std::function<void(const ImageBatch&, const ImageFeatures&)>& record);

}  // namespace probe
