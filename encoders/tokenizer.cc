#include "encoders/tokenizer.h"

#include <cstddef>
#include <utility>

#include "encoders/clip_bpe.h"
#include "encoders/sentencepiece_tokenizer.h"
#include "probe/core/error.h"

namespace probe {

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                          const TokenizerSpec& spec) {
  const std::filesystem::path file = folder / spec.file;
  try {
    return spec.type == TokenizerType::clip_bpe ? load_clip_bpe(file, spec)
                                                : load_sentencepiece(file, spec);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::model) throw;
    throw Error(ErrorKind::model, std::string("tokenizer: ") + error.what());
  }
}

std::vector<std::int64_t> fit_to_context(std::vector<std::int64_t> ids,
                                         const TokenizerSpec& spec, int context_length,
                                         bool* was_cut) {
  const std::size_t length = static_cast<std::size_t>(context_length);
  const bool cut = ids.size() > length;
  ids.resize(length, spec.pad_id);
  if (cut) ids.back() = spec.end_id;
  if (was_cut != nullptr) *was_cut = cut;
  return ids;
}

}  // namespace probe
