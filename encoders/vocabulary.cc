#include "encoders/vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {

Vocabulary::Vocabulary(const EncoderSpec& spec)
    : encoder_(spec.name),
      text_(*spec.text),
      tokenizer_(load_tokenizer(spec.folder, spec.text->tokenizer)) {
  if (text_.known_ids_file.empty()) return;
  const std::filesystem::path path = spec.folder / text_.known_ids_file;
  try {
    const auto ids =
        nlohmann::json::parse(read_file(path, 64 << 20)).get<std::vector<std::int64_t>>();
    known_ids_.insert(ids.begin(), ids.end());
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::model, path.string() + ": expected a JSON list of token ids");
  }
}

std::vector<std::int64_t> Vocabulary::check(const std::string& text,
                                            std::vector<std::string>& warnings) const {
  std::vector<std::int64_t> ids = tokenizer_->encode(text);
  const bool unknown =
      !known_ids_.empty() && std::any_of(ids.begin(), ids.end(), [&](std::int64_t id) {
        return !known_ids_.contains(id);
      });
  bool was_cut = false;
  ids = fit_to_context(std::move(ids), text_.tokenizer, text_.context_length, &was_cut);
  const std::string quoted = "text \"" + printable(text) + "\": ";
  if (unknown) {
    warnings.push_back(quoted + "has words that the text tower of encoder " + encoder_ +
                       " never learnt; its vector means nothing");
  }
  if (was_cut) {
    warnings.push_back(quoted + "longer than " + std::to_string(text_.context_length) +
                       " tokens; cut");
  }
  return ids;
}

}  // namespace probe
