#include "encoders/clip_bpe.h"

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "encoders/clip_words.h"
#include "encoders/text_cleaning.h"
#include "encoders/unicode_text.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"

namespace probe {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
constexpr int kBytes = 256;
constexpr int kMostMerges = 49152 - 256 - 2;  // openai/CLIP's slice: 49,408 ids in all
constexpr std::string_view kWordEnd = "</w>";

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(ErrorKind::model, file.string() + ": " + what);
}

// Text of a gzip file, or of a plain one as it is.
std::string read_text(const std::filesystem::path& file) {
  const std::string content = read_file(file, kMaxFileBytes);
  if (!content.starts_with("\x1f\x8b")) return content;
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) fail(file, "expected zlib to start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  std::string text;
  int state = Z_OK;
  while (state == Z_OK && text.size() <= kMaxTextBytes) {
    std::array<char, 65536> block;
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > kMaxTextBytes) {
    fail(file, "expected at most " + std::to_string(kMaxTextBytes) + " bytes unpacked");
  }
  if (state != Z_STREAM_END) fail(file, "expected a whole gzip file, got a damaged one");
  return text;
}

// The visible character that stands for each byte in the file, in order of id: printable
// bytes stand for themselves, the others for U+0100 and on.
std::vector<std::pair<std::uint8_t, std::string>> byte_symbols() {
  const auto is_printable = [](int b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  std::vector<std::pair<std::uint8_t, std::string>> symbols;
  for (const bool printable : {true, false}) {
    char32_t next = 0x100;
    for (int b = 0; b < kBytes; ++b) {
      if (is_printable(b) != printable) continue;
      std::string symbol;
      append_utf8(printable ? static_cast<char32_t>(b) : next++, symbol);
      symbols.emplace_back(static_cast<std::uint8_t>(b), symbol);
    }
  }
  return symbols;
}

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

// What may be merged, and the ids.
struct Merges {
  std::array<std::int32_t, kBytes> byte_ids{};             // inside a word; + 256: at its end
  std::unordered_map<std::uint64_t, std::int32_t> merged;  // pair of ids -> id, low first
  std::int32_t start_id = 0, end_id = 0;
};

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Merges read_merges(const std::filesystem::path& file) {
  const std::string content = read_text(file);
  std::string_view text = content;
  if (next_line(text).find("#version") == std::string_view::npos) {
    fail(file, "expected BPE merges with #version in the first line, got another kind of file");
  }
  Merges merges;
  std::unordered_map<std::string, std::int32_t> ids;
  for (const auto& [byte, symbol] : byte_symbols()) {
    const std::int32_t id = static_cast<std::int32_t>(ids.size());
    merges.byte_ids[byte] = id;
    ids[symbol] = id;
  }
  for (const auto& [byte, symbol] : byte_symbols()) {
    ids[symbol + std::string(kWordEnd)] = merges.byte_ids[byte] + kBytes;
  }
  int line_number = 1;
  for (int count = 0; count < kMostMerges && !text.empty(); ++count) {
    const std::string_view line = next_line(text);
    ++line_number;
    if (line.empty() && text.empty()) break;
    const std::size_t blank = line.find(' ');
    const std::string left(line.substr(0, blank));
    const std::string right(blank == std::string_view::npos ? "" : line.substr(blank + 1));
    const auto left_id = ids.find(left), right_id = ids.find(right);
    const std::int32_t id = static_cast<std::int32_t>(ids.size());
    if (left_id == ids.end() || right_id == ids.end() || left.ends_with(kWordEnd) ||
        !ids.emplace(left + right, id).second) {
      fail(file, "line " + std::to_string(line_number) +
                     ": expected two known symbols that make a new one");
    }
    merges.merged.emplace(pair_key(left_id->second, right_id->second), id);
  }
  merges.start_id = static_cast<std::int32_t>(ids.size());
  merges.end_id = merges.start_id + 1;
  return merges;
}

// Merges the symbols of one word: always the pair learnt first, the leftmost of equals.
class WordMerger {
 public:
  WordMerger(const Merges& merges, std::vector<std::int32_t> symbols)
      : merges_(merges),
        symbols_(std::move(symbols)),
        next_(symbols_.size()),
        previous_(symbols_.size()) {
    const int size = static_cast<int>(symbols_.size());
    for (int i = 0; i < size; ++i) {
      next_[i] = i + 1 < size ? i + 1 : -1;
      previous_[i] = i - 1;
    }
    for (int i = 0; i + 1 < size; ++i) propose(i);
  }

  void run(std::vector<std::int64_t>& out) {
    while (!queue_.empty()) {
      const Proposal best = queue_.top();
      queue_.pop();
      const int right = symbols_[best.left] == best.left_symbol ? next_[best.left] : -1;
      if (right < 0 || symbols_[right] != best.right_symbol) continue;  // outdated
      symbols_[best.left] = best.merged;
      symbols_[right] = kGone;
      next_[best.left] = next_[right];
      if (next_[right] >= 0) previous_[next_[right]] = best.left;
      propose(best.left);
      if (previous_[best.left] >= 0) propose(previous_[best.left]);
    }
    for (const std::int32_t symbol : symbols_) {
      if (symbol != kGone) out.push_back(symbol);
    }
  }

 private:
  static constexpr std::int32_t kGone = -1;
  struct Proposal {
    std::int32_t merged, left_symbol, right_symbol;
    int left;
    bool operator<(const Proposal& other) const {  // the queue's top is the greatest
      return std::pair(merged, left) > std::pair(other.merged, other.left);
    }
  };

  void propose(int left) {
    if (next_[left] < 0) return;
    const std::int32_t right_symbol = symbols_[next_[left]];
    const auto found = merges_.merged.find(pair_key(symbols_[left], right_symbol));
    if (found != merges_.merged.end()) {
      queue_.push({found->second, symbols_[left], right_symbol, left});
    }
  }

  const Merges& merges_;
  std::vector<std::int32_t> symbols_;
  std::vector<int> next_, previous_;
  std::priority_queue<Proposal> queue_;
};

class ClipBpe : public Tokenizer {
 public:
  ClipBpe(Merges merges, const TokenizerSpec& spec) : merges_(std::move(merges)), spec_(spec) {}

  std::vector<std::int64_t> encode(const std::string& text) const override {
    std::u32string clean = decode_utf8(text);
    if (spec_.clean_ftfy) clean = clean_as_clip(clean);
    if (spec_.canonicalize_siglip) clean = canonicalize_as_siglip(clean);
    if (spec_.lowercase) clean = to_lower(clean);
    std::vector<std::int64_t> ids;
    if (spec_.start_id >= 0) ids.push_back(spec_.start_id);
    for (const std::u32string& word : split_clip_words(clean)) append_word(word, ids);
    ids.push_back(spec_.end_id);
    return ids;
  }

 private:
  void append_word(const std::u32string& word, std::vector<std::int64_t>& ids) const {
    if (word == kClipStartMark) return ids.push_back(merges_.start_id);
    if (word == kClipEndMark) return ids.push_back(merges_.end_id);
    std::vector<std::int32_t> symbols;
    for (const char byte : encode_utf8(word)) {
      symbols.push_back(merges_.byte_ids[static_cast<std::uint8_t>(byte)]);
    }
    symbols.back() += kBytes;
    WordMerger(merges_, std::move(symbols)).run(ids);
  }

  Merges merges_;
  TokenizerSpec spec_;
};

}  // namespace

std::unique_ptr<Tokenizer> load_clip_bpe(const std::filesystem::path& file,
                                         const TokenizerSpec& spec) {
  Merges merges = read_merges(file);
  const bool start_fits = spec.start_id < 0 || spec.start_id == merges.start_id;
  if (!start_fits || spec.end_id != merges.end_id) {
    fail(file, "expected merges that number the start and end marks " +
                   std::to_string(spec.start_id) + " and " + std::to_string(spec.end_id) +
                   " as encoder.json says, got " + std::to_string(merges.start_id) + " and " +
                   std::to_string(merges.end_id));
  }
  return std::make_unique<ClipBpe>(std::move(merges), spec);
}

}  // namespace probe
