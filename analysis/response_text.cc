#include "analysis/response_text.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace probe {
namespace {

using icu::UnicodeString;

UnicodeString borrow(std::u16string_view text) {
  return UnicodeString(false, text.data(), static_cast<std::int32_t>(text.size()));
}

std::u16string copy(const UnicodeString& text) {
  return {text.getBuffer(), static_cast<std::size_t>(text.length())};
}

void check(UErrorCode code, const char* what) {
  if (U_FAILURE(code)) throw std::logic_error(std::string(what) + ": " + u_errorName(code));
}

// Patterns are compiled once; a pattern's address is its identity (they are literals).
const icu::RegexPattern& compiled(const char16_t* pattern, bool exact_case) {
  static std::mutex mutex;
  static std::map<std::pair<const char16_t*, bool>, std::unique_ptr<icu::RegexPattern>> cache;
  const std::lock_guard lock(mutex);
  auto& entry = cache[{pattern, exact_case}];
  if (!entry) {
    UErrorCode code = U_ZERO_ERROR;
    UParseError where;
    const std::uint32_t flags =
        UREGEX_MULTILINE | (exact_case ? 0u : std::uint32_t{UREGEX_CASE_INSENSITIVE});
    entry.reset(icu::RegexPattern::compile(UnicodeString(pattern), flags, where, code));
    check(code, "regular expression");
  }
  return *entry;
}

bool is_dropped(char16_t c) {
  return c == 0x00AD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2064) || c == 0xFEFF;
}

char16_t plain_character(char16_t c) {
  switch (c) {
    case 0x2018: case 0x2019: case 0x201B: case 0x2032: return u'\'';
    case 0x201C: case 0x201D: case 0x201E: case 0x2033: case 0x300C: case 0x300D: return u'"';
    case 0x2010: case 0x2011: case 0x2212: return u'-';
    case 0x3010: return u'[';
    case 0x3011: return u']';
    case 0x00A0: case 0x0085: case 0x2028: case 0x2029: return c == 0x00A0 ? u' ' : u'\n';
    default: return c;
  }
}

bool ends_with(const std::u16string& word, std::u16string_view end) {
  return word.size() > end.size() + 1 && std::u16string_view(word).ends_with(end);
}

}  // namespace

std::u16string normalize_response(std::string_view utf8) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* nfkc = icu::Normalizer2::getNFKCInstance(code);
  check(code, "NFKC");
  UnicodeString given = UnicodeString::fromUTF8(
      icu::StringPiece(utf8.data(), static_cast<std::int32_t>(utf8.size())));
  constexpr int kLongestRun = 40;  // of one character; more is a model that got stuck
  int run = 0;
  UnicodeString marked;  // before NFKC, which would turn a double prime into two primes
  for (std::int32_t i = 0; i < given.length(); ++i) {
    const char16_t c = given[i];
    run = i > 0 && c == given[i - 1] ? run + 1 : 0;
    if (run >= kLongestRun) continue;
    if (c == u'\r') {
      if (i + 1 >= given.length() || given[i + 1] != u'\n') marked += u'\n';
    } else if (!is_dropped(c)) {
      marked += plain_character(c);
    }
  }
  UnicodeString text = nfkc->normalize(marked, code);
  check(code, "NFKC");
  static constexpr const char16_t* kSpecial = u"</?s>|<\\|[^|\\n]{0,40}\\|>|<(?:pad|unk|eos|bos)>";
  const std::u16string plain = copy(text);
  std::u16string out;
  std::size_t begin = 0;
  for (const auto& match : find_all(kSpecial, plain)) {
    out.append(plain, begin, match[0].begin - begin);
    begin = match[0].end;
  }
  return out.append(plain, begin);
}

std::string to_utf8(std::u16string_view text) {
  std::string out;
  borrow(text).toUTF8String(out);
  return out;
}

std::u16string lower_case(std::u16string_view text) {
  UnicodeString copied(text.data(), static_cast<std::int32_t>(text.size()));
  return copy(copied.toLower(icu::Locale::getRoot()));
}

std::vector<std::vector<Span>> find_all(const char16_t* pattern, std::u16string_view text,
                                        bool exact_case) {
  UErrorCode code = U_ZERO_ERROR;
  const UnicodeString input = borrow(text);
  const std::unique_ptr<icu::RegexMatcher> matcher(
      compiled(pattern, exact_case).matcher(input, code));
  check(code, "regular expression");
  std::vector<std::vector<Span>> found;
  while (matcher->find(code)) {
    std::vector<Span> groups;
    for (std::int32_t g = 0; g <= matcher->groupCount(); ++g) {
      const std::int32_t begin = matcher->start(g, code), end = matcher->end(g, code);
      groups.push_back(begin < 0 ? Span{} : Span{static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(end)});
    }
    found.push_back(std::move(groups));
  }
  check(code, "regular expression");
  return found;
}

bool matches_somewhere(const char16_t* pattern, std::u16string_view text) {
  return !find_all(pattern, text).empty();
}

bool is_word_character(char16_t c) {
  return c == u'_' || u_isalnum(c) || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0 ||
         U16_IS_SURROGATE(c);
}

std::vector<Word> split_words(std::u16string_view text) {
  static constexpr const char16_t* kWord =
      u"(?:(?<![\\p{L}\\p{N}])[-+])?\\p{Sc}?\\p{N}+(?:[.,:/]\\p{N}+){0,50}%?(?![\\p{L}\\p{M}\\p{N}])"
      u"|[\\p{L}\\p{M}\\p{N}°]+(?:'\\p{L}+)?%?";
  std::vector<Word> words;
  for (const auto& match : find_all(kWord, text)) {
    std::u16string word = lower_case(text.substr(match[0].begin, match[0].end - match[0].begin));
    if (word == u"a" || word == u"an" || word == u"the") continue;
    words.push_back({std::move(word), match[0]});
  }
  return words;
}

std::u16string fold_word(const std::u16string& word) {
  static const std::map<std::u16string, std::u16string> kIrregular = {
      {u"mice", u"mouse"},   {u"geese", u"goose"}, {u"men", u"man"},     {u"women", u"woman"},
      {u"feet", u"foot"},    {u"teeth", u"tooth"}, {u"people", u"person"},
      {u"children", u"child"}, {u"leaves", u"leaf"}, {u"loaves", u"loaf"}, {u"knives", u"knife"},
      {u"wolves", u"wolf"},  {u"halves", u"half"}, {u"oxen", u"ox"},     {u"shelves", u"shelf"},
      {u"scarves", u"scarf"}, {u"calves", u"calf"}, {u"two", u"2"},      {u"three", u"3"},
      {u"four", u"4"},       {u"five", u"5"},      {u"six", u"6"},       {u"seven", u"7"},
      {u"eight", u"8"},      {u"nine", u"9"},      {u"ten", u"10"},      {u"eleven", u"11"},
      {u"twelve", u"12"}};
  if (const auto it = kIrregular.find(word); it != kIrregular.end()) return it->second;
  if (ends_with(word, u"ies")) return word.substr(0, word.size() - 3) + u"y";
  for (const char16_t* end : {u"sses", u"shes", u"ches", u"xes", u"zes", u"oes"}) {
    if (ends_with(word, end)) return word.substr(0, word.size() - 2);
  }
  const bool plural = ends_with(word, u"s") && !ends_with(word, u"ss") && !ends_with(word, u"us") &&
                      !ends_with(word, u"is") && word.size() > 3;
  return plural ? word.substr(0, word.size() - 1) : word;
}

std::vector<Span> split_sentences(std::u16string_view text) {
  std::vector<Span> sentences;
  std::size_t begin = 0;
  for (const auto& match : find_all(u"[.!?]+[)\"'*\\]]*(?=\\s|$)|。|\\n+", text)) {
    sentences.push_back({begin, match[0].end});
    begin = match[0].end;
  }
  sentences.push_back({begin, text.size()});
  std::erase_if(sentences, [&](const Span& s) {
    for (std::size_t i = s.begin; i < s.end; ++i) {
      if (is_word_character(text[i])) return false;
    }
    return true;
  });
  return sentences;
}

}  // namespace probe
