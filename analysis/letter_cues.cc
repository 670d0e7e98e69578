#include "analysis/letter_cues.h"

#include <algorithm>
#include <string>

namespace probe {
namespace {

bool is_blank(char16_t c) { return c == u' ' || c == u'\t' || c == u'\n'; }
bool is_ascii_letter(char16_t c) { return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z'); }
bool is_opener(char16_t c) {
  return std::u16string_view(u"*_\"'`$([{<#~").find(c) != std::u16string_view::npos;
}
bool is_closer(char16_t c) {
  return std::u16string_view(u"*_\"'`$)]}>~").find(c) != std::u16string_view::npos;
}
int index_of(char16_t c) { return c >= u'a' ? c - u'a' : c - u'A'; }

// "\boxed{", "\text{" and their like; their length, or 0.
std::size_t latex_length(std::u16string_view rest) {
  for (const std::u16string_view command :
       {u"\\boxed{", u"\\text{", u"\\textbf{", u"\\mathrm{", u"\\mathbf{", u"\\fbox{"}) {
    if (rest.starts_with(command)) return command.size();
  }
  return 0;
}

// What must not follow a letter: the rest of a word, 's, -shaped, °, a formula.
bool continues(std::u16string_view rest) {
  if (rest.empty()) return false;
  if (is_word_character(rest[0]) && rest[0] != u'_') return rest[0] < 0x2E80;  // CJK needs no blank
  if (rest[0] == u'°' || rest[0] == u'&' || rest[0] == u'+' || rest[0] == u'/') return true;
  const bool joins = rest[0] == u'-' || rest[0] == u'\'' || rest[0] == u'.' || rest[0] == u'_';
  if (joins && rest.size() > 1 && is_word_character(rest[1])) return true;
  const std::size_t next = rest.find_first_not_of(u" ");
  return next != std::u16string_view::npos && rest[next] == u'=';
}

// "A red boat", "I see": the letter is a word of its own. `rest` follows the letter.
bool is_article_or_pronoun(char16_t letter, std::u16string_view rest) {
  const bool risky = letter == u'A' || letter == u'a' || letter == u'I' || letter == u'i';
  if (!risky || rest.empty() || rest[0] != u' ') return false;
  const std::size_t begin = rest.find_first_not_of(u' ');
  if (begin == std::u16string_view::npos || !is_word_character(rest[begin])) return false;
  std::size_t end = begin;
  while (end < rest.size() && is_word_character(rest[end])) ++end;
  const std::u16string next = lower_case(rest.substr(begin, end - begin));
  for (const char16_t* verb : {u"because", u"since", u"as", u"is", u"and", u"or", u"but", u"for",
                               u"was", u"would", u"seems"}) {
    if (letter != u'I' && letter != u'i' && next == verb) return false;
  }
  return true;
}

bool names_another(std::u16string_view rest, int choice, int count) {
  static constexpr const char16_t* kOther =
      u"\\A[\\s)\\]}*\"'.$]{0,8}(?:,\\s*(?:and\\s+|or\\s+)?|and\\s+|or\\s+|&\\s*|/\\s*)"
      u"(?:option\\s+|choice\\s+)?[(\\[*\"'$]{0,6}([A-Z])(?=[)\\]*\"'$]{0,6}(?:[.,;:!?\\n]|\\s*\\Z|\\s+and|\\s+or))";
  for (const auto& match : find_all(kOther, rest, true)) {
    const int other = rest[match[1].begin] - u'A';
    if (other < count && other != choice) return true;
  }
  return false;
}

std::vector<LetterToken> letters_after(const char16_t* cue, std::u16string_view text, int count) {
  std::vector<LetterToken> letters;
  for (const auto& match : find_all(cue, text)) {
    if (auto letter = letter_at(text, match[0].end, count)) letters.push_back(*letter);
  }
  return letters;
}

}  // namespace

std::optional<LetterToken> letter_at(std::u16string_view text, std::size_t begin, int count) {
  LetterToken token;
  token.span.begin = begin;
  std::size_t at = begin;
  for (bool more = true; more && at < text.size();) {
    more = false;
    if (is_blank(text[at])) {
      ++at, more = true;
    } else if (const std::size_t length = latex_length(text.substr(at))) {
      at += length, token.wrapped = more = true;
    } else if (is_opener(text[at])) {
      ++at, token.wrapped = more = true;
    }
  }
  if (at >= text.size() || !is_ascii_letter(text[at])) return std::nullopt;
  const char16_t letter = text[at];
  std::u16string_view rest = text.substr(at + 1);
  token.choice = index_of(letter);
  if (token.choice >= count || continues(rest) || is_article_or_pronoun(letter, rest)) {
    return std::nullopt;
  }
  std::size_t end = at + 1;
  while (end < text.size() && is_closer(text[end])) ++end;
  if (token.wrapped && end == at + 1) token.wrapped = false;  // "(A red boat": no wrapper
  token.span.end = end;
  token.several = names_another(rest, token.choice, count);
  return token;
}

std::optional<int> lone_letter(std::u16string_view text, int count) {
  const auto token = letter_at(text, 0, count);
  if (!token) return std::nullopt;
  const bool more = std::any_of(text.begin() + static_cast<std::ptrdiff_t>(token->span.end),
                                text.end(), [](char16_t c) { return is_word_character(c); });
  return more ? std::nullopt : std::optional(token->choice);
}

std::vector<Span> strong_cues(std::u16string_view text) {
  static constexpr const char16_t* kCues =
      // answer is, final answer:, "answer": , correct option would be, the right one is
      u"\\b(?:answer|ans|(?:correct|right|best|my|final)\\s+(?:answer|option|choice|letter|one|"
      u"response|selection|statement))\\b[*_\"'`]*(?:\\s+(?:to|for)\\s+(?:this|the|your)\\s+"
      u"question)?\\s*(?:(?:is|would\\s+be|should\\s+be|could\\s+be|must\\s+be|will\\s+be|was)\\b"
      u"\\s*:?|:|=|-+>|→)[*_`]*\\s*(?:(?:most\\s+likely|likely|probably|therefore|simply|indeed|"
      u"option|choice|letter)\\b\\s*:?\\s*){0,8}"  // a loop without an end overflows ICU's stack
      // the answer (A)
      u"|\\banswer\\s*(?=[(\\[]\\p{L}[)\\]])"
      // it must be C; I choose B; choose A
      u"|\\b(?:it|this|that|so)\\s+(?:must|has\\s+to)\\s+be\\s+(?:option\\s+|choice\\s+|letter\\s+)?"
      u"|(?:^|[.!?:,]\\s+|\\b(?:I|we|I'd|I'll|would|will|should|to)\\s+)(?:choose|chose|pick|select|"
      u"selected|go\\s+(?:with|for)|vote\\s+for|opt\\s+for)\\s+(?:option\\s+|choice\\s+|"
      u"letter\\s+)?"
      u"|\\\\boxed(?=\\s*\\{)"
      u"|\"(?:answer|choice|option|prediction|selected|letter)\"\\s*:\\s*"
      // other languages
      u"|(?:答案|选择|選擇|应选|應選|故选|故選|选项|選項|选|選|回答|正解|정답|답)\\s*(?:应该|應該)?"
      u"(?:是|为|為|は|은|는)?\\s*:?\\s*"
      u"|\\b(?:antwort|ответ|respuesta|réponse|resposta|risposta|odpowiedź|svar)\\b\\s*(?:correcta|"
      u"correcte|corretta)?\\s*(?:ist|es|est|é|è|:)?\\s*:?\\s*";
  std::vector<Span> cues;
  for (const auto& match : find_all(kCues, text)) cues.push_back(match[0]);
  return cues;
}

std::set<int> rejected_letters(std::u16string_view text, int count) {
  static constexpr const char16_t* kTurnedDown[] = {
      u"\\b(?:option|choice|answer)\\s*[(\\[*\"']{0,6}([A-Za-z])[)\\]*\"']{0,6}(?:\\s+[^\\s.,;]+){0,4}?\\s+"
      u"(?:is|are|was|seems|can\\s+be)\\s+(?:also\\s+|therefore\\s+|clearly\\s+)?(?:wrong|incorrect|"
      u"false|not\\b|eliminated|ruled\\s+out|excluded|unlikely)",
      u"\\b(?:option|choice|answer)\\s*[(\\[*\"']{0,6}([A-Za-z])[)\\]*\"']{0,6}\\s+(?:isn't|can't|cannot)",
      u"[(\\[*]([A-Z])[)\\]*]{1,6}\\s+(?:is|was)\\s+(?:also\\s+)?(?:wrong|incorrect|false|not\\s+"
      u"(?:correct|right|the))",
      u"\\b(?:not|isn't|cannot\\s+be|can't\\s+be|rule\\s+out|eliminate|exclude|than)\\s+(?:option\\s*|"
      u"choice\\s*)?[(\\[*\"']{0,6}([A-Z])[)\\]*\"']{0,6}(?=\\s*(?:[.,;!?)]|$|\\s(?:is|and|or|but|because)))"};
  std::set<int> rejected;
  for (const char16_t* pattern : kTurnedDown) {
    for (const auto& match : find_all(pattern, text)) {
      const char16_t letter = text[match[1].begin];
      if (is_ascii_letter(letter) && index_of(letter) < count) rejected.insert(index_of(letter));
    }
  }
  return rejected;
}

std::vector<LetterToken> weak_cues(std::u16string_view text, int count) {
  return letters_after(
      u"\\b(?:option|choice|letter)\\b\\s*:?\\s*"
      u"|\\b(?:it|that|this)(?:'s|\\s+is|\\s+should\\s+be|\\s+would\\s+be)\\s+(?=[(\\[*\"]*[A-Z])",
      text, count);
}

std::optional<LetterToken> leading_label(std::u16string_view text, int count) {
  const auto token = letter_at(text, 0, count);
  if (!token) return std::nullopt;
  const std::u16string_view rest = text.substr(token->span.end);
  const bool ends = rest.empty() || rest[0] == u'\n' ||
                    std::u16string_view(u".):,、;").find(rest[0]) != std::u16string_view::npos;
  if (!ends && !token->wrapped) return std::nullopt;
  return token;
}

std::vector<LetterToken> wrapped_letters(std::u16string_view text, int count) {
  std::vector<LetterToken> letters;
  for (const auto& match :
       find_all(u"(?<![\\p{L}\\p{N}^])[(\\[][*\"']*[A-Za-z][*\"']*[)\\]]|\\*\\*\\(?[A-Z]\\)?[.:]?\\*\\*"
                u"|(?<![\\p{L}\\p{N}°⋅])[A-Z]\\)(?=\\s|$)|\\$[A-Z]\\$|\"[A-Z]\"|\\\\text\\{[A-Z]\\}",
                text, true)) {
    if (auto letter = letter_at(text, match[0].begin, count)) letters.push_back(*letter);
  }
  return letters;
}

std::vector<LetterToken> closing_letters(std::u16string_view text, int count) {
  std::vector<LetterToken> letters;
  for (const auto& match : find_all(u"(?:^|[,:;])\\s*([A-Z])\\s*[.!]?\\s*$", text, true)) {
    if (auto letter = letter_at(text, match[1].begin, count)) letters.push_back(*letter);
  }
  return letters;
}

}  // namespace probe
