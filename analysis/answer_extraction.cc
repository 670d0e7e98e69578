#include "analysis/answer_extraction.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/letter_cues.h"

namespace probe {
namespace {

Extraction picked(int choice, const char* rule) { return {choice, Unparsed::none, rule}; }
Extraction unparsed(Unparsed reason, const char* rule) { return {-1, reason, rule}; }

std::optional<int> only_one(const std::set<int>& choices) {
  return choices.size() == 1 ? std::optional(*choices.begin()) : std::nullopt;
}

// What the later rules look at: the response without pleasantries and listings.
struct Reading {
  std::u16string text;
  std::vector<Mention> mentions;      // of choice texts, not negated
  std::vector<LetterToken> wrapped;   // bracketed letters, not turned down
  std::set<int> rejected;             // letters turned down
  bool contradiction = false;         // "the second image (B)" where B is the third image
};

bool has_words(std::u16string_view text) {
  return std::any_of(text.begin(), text.end(), is_word_character);
}

// "Sure, I can help you with that!" answers nothing.
std::u16string without_pleasantry(const std::u16string& text) {
  static constexpr const char16_t* kPleasantry =
      u"\\A\\W*(?:yes|sure|of course|certainly|absolutely|great|okay|ok|i'm happy|i'd be happy)\\b"
      u"[^.!?\\n]*\\b(?:help|assist)\\b[^.!?\\n]*[.!]\\s*";
  const auto found = find_all(kPleasantry, text);
  return found.empty() ? text : text.substr(found[0][0].end);
}

// Rule 2: the whole response is a letter or a choice's text.
std::optional<Extraction> whole_response(std::u16string_view text, const PreparedChoices& choices) {
  const auto by_text = choice_that_is(text, choices);
  std::optional<int> letter;
  if (choices.letters) letter = lone_letter(text, choices.count);
  if (by_text && letter && *by_text != *letter) {
    return unparsed(Unparsed::ambiguous, "whole response");
  }
  if (by_text) return picked(*by_text, "whole response");
  if (letter) return picked(*letter, "whole response");
  return std::nullopt;
}

bool is_error(std::u16string_view text) {
  return matches_somewhere(
      u"\\A\\W*(?:failed to obtain|failed to (?:get|generate|fetch)|(?:http\\s*)?error\\s*(?:code)?"
      u"[:#]?\\s*\\d{3}\\b|error\\s*:|(?:api|internal server|server|connection|timeout|runtime|"
      u"value|cuda|openai)\\s*_?error\\b|traceback \\(most|request (?:failed|timed out)|"
      u"rate limit|http\\s*\\d{3}\\b|too many requests)",
      text);
}

bool is_refusal(std::u16string_view text) {
  return matches_somewhere(
      u"\\A\\W*(?:(?:i am|i'm|we are|we're)\\s+)?(?:(?:very|so|really)\\s+)?sorry\\b"
      u"|\\bas an ai\\b|\\bi apologi[sz]e\\b"
      u"|\\bi\\s+(?:can't|cannot|can not|could not|couldn't|won't|will not|am unable to|am not able "
      u"to|do not|don't)\\s+(?:\\w+\\s+)?(?:help|assist|answer|see|view|access|provide|process|"
      u"determine|identify|have access|have the ability|comply|tell|discern|analy[sz]e)"
      u"|\\bi'm\\s+(?:unable|not able)\\s+to\\b",
      text);
}

bool turned_down_at_once(std::u16string_view rest) {
  return matches_somewhere(
      u"\\A[\\s)\\]*\"']*(?:is|are|was|would be)\\s+(?:also\\s+)?(?:wrong|incorrect|false|not\\b)", rest);
}

// Rule 3: the last explicit cue with a letter, or a choice's text, right after it.
std::optional<Extraction> explicit_cue(const Reading& reading, const PreparedChoices& choices) {
  std::optional<Extraction> last;
  for (const Span& cue : strong_cues(reading.text)) {
    if (choices.letters) {
      if (const auto letter = letter_at(reading.text, cue.end, choices.count)) {
        const std::u16string_view rest =
            std::u16string_view(reading.text).substr(letter->span.end);
        if (turned_down_at_once(rest)) continue;
        last = letter->several ? unparsed(Unparsed::ambiguous, "explicit cue")
                               : picked(letter->choice, "explicit cue");
        continue;
      }
    }
    const std::u16string_view after = std::u16string_view(reading.text).substr(cue.end);
    const std::vector<Word> words = split_words(after.substr(0, 200));
    if (words.empty()) continue;
    for (const Mention& mention : reading.mentions) {
      if (mention.span.begin == cue.end + words[0].span.begin) {
        last = picked(mention.choice, "explicit cue");
      }
    }
  }
  return last;
}

// Rule 4. Without texts a listing cannot be told from an answer, unless every letter is in it.
std::optional<Extraction> label_at_the_head(const Reading& reading, const PreparedChoices& choices) {
  const auto label = leading_label(reading.text, choices.count);
  if (!label || label->several || reading.rejected.contains(label->choice)) return std::nullopt;
  const bool unknown = std::any_of(choices.texts.begin(), choices.texts.end(),
                                   [](const auto& text) { return text.empty(); });
  std::set<int> named;
  for (const LetterToken& letter : reading.wrapped) named.insert(letter.choice);
  if (unknown && static_cast<int>(named.size()) == choices.count) return std::nullopt;
  return picked(label->choice, "leading label");
}

// A bracketed letter that no choice has shows that the response letters something else, say
// the pictures: then no bracketed letter counts.
bool letters_foreign_things(std::u16string_view text, int count) {
  for (const auto& match :
       find_all(u"[(\\[]([A-Z])(?:\\s*(?:,|and|or|&)\\s*([A-Z]))?[)\\]]", text, true)) {
    for (const Span& letter : {match[1], match[2]}) {
      if (letter.end > letter.begin && text[letter.begin] - u'A' >= count) return true;
    }
  }
  return false;
}

// Pairs like "the second image (B)" must agree.
void check_pairs(Reading& reading, const PreparedChoices& choices) {
  bool foreign = letters_foreign_things(reading.text, choices.count);
  for (const Mention& mention : reading.mentions) {
    const std::u16string_view rest = std::u16string_view(reading.text).substr(mention.span.end);
    const auto pair = find_all(u"\\A\\s*[(\\[]([A-Z])[)\\]]", rest, true);
    if (pair.empty()) continue;
    const int letter = rest[pair[0][1].begin] - u'A';
    reading.contradiction = reading.contradiction || letter != mention.choice;
  }
  if (foreign) {
    reading.wrapped.clear();
    reading.contradiction = false;
  }
}

bool concludes(std::u16string_view sentence) {
  return matches_somewhere(
      u"\\A\\W*(?:therefore|thus|hence|so|in conclusion|to conclude|overall|consequently|in summary|"
      u"finally|as a result|based on (?:this|these|the above))\\b",
      sentence);
}

bool in_conclusion(std::u16string_view text, Span span) {
  for (const Span& sentence : split_sentences(text)) {
    if (span.begin >= sentence.begin && span.end <= sentence.end) {
      return concludes(text.substr(sentence.begin, sentence.end - sentence.begin));
    }
  }
  return false;
}

// Where a comparison begins: what follows is what the answer is compared with.
std::size_t contrast_begin(std::u16string_view sentence) {
  const auto found = find_all(
      u"\\b(?:compared (?:to|with)|rather than|instead of|as opposed to|than|unlike|whereas|while|"
      u"but not)\\b",
      sentence);
  return found.empty() ? sentence.size() : found[0][0].begin;
}

// The choices a sentence names, by text or bracketed letter.
std::set<int> named_in(const Reading& reading, Span span) {
  std::set<int> named;
  for (const Mention& mention : reading.mentions) {
    if (mention.span.begin >= span.begin && mention.span.end <= span.end) {
      named.insert(mention.choice);
    }
  }
  for (const LetterToken& letter : reading.wrapped) {
    if (letter.span.begin >= span.begin && letter.span.end <= span.end) named.insert(letter.choice);
  }
  return named;
}

std::optional<int> sentence_names(const Reading& reading, Span sentence) {
  const std::u16string_view words =
      std::u16string_view(reading.text).substr(sentence.begin, sentence.end - sentence.begin);
  const std::set<int> before =
      named_in(reading, {sentence.begin, sentence.begin + contrast_begin(words)});
  return only_one(before.empty() ? named_in(reading, sentence) : before);
}

// Rules 8 and 9: the conclusion, else the opening sentence.
std::optional<Extraction> by_sentence(const Reading& reading) {
  const std::vector<Span> sentences = split_sentences(reading.text);
  if (sentences.empty()) return std::nullopt;
  const auto words = [&](const Span& s) {
    return std::u16string_view(reading.text).substr(s.begin, s.end - s.begin);
  };
  for (auto it = sentences.rbegin(); it != sentences.rend(); ++it) {
    if (!concludes(words(*it))) continue;
    if (const auto choice = sentence_names(reading, *it)) return picked(*choice, "conclusion");
    if (!named_in(reading, *it).empty()) return std::nullopt;
  }
  const auto opening = sentence_names(reading, sentences.front());
  if (!opening) return std::nullopt;
  const auto closing = sentence_names(reading, sentences.back());
  const bool contrast =
      matches_somewhere(u"\\b(?:different|differs?|less|not|n't|whereas|while|unlike|however|although|"
                        u"other hand|does not|doesn't)\\b",
                        words(sentences.back()));
  if (closing && *closing != *opening && !contrast) return std::nullopt;
  return picked(*opening, "opening sentence");
}

std::optional<Extraction> by_letters(const Reading& reading, const PreparedChoices& choices) {
  std::set<int> named;
  for (const LetterToken& letter : weak_cues(reading.text, choices.count)) {
    if (!letter.several && !reading.rejected.contains(letter.choice)) named.insert(letter.choice);
  }
  if (const auto choice = only_one(named)) return picked(*choice, "named option");
  return std::nullopt;
}

std::optional<Extraction> by_bracket(const Reading& reading, const PreparedChoices& choices) {
  std::set<int> named;
  for (const LetterToken& letter : reading.wrapped) named.insert(letter.choice);
  if (const auto choice = only_one(named)) {
    return reading.contradiction ? unparsed(Unparsed::ambiguous, "bracketed letter")
                                 : picked(*choice, "bracketed letter");
  }
  named.clear();
  for (const LetterToken& letter : closing_letters(reading.text, choices.count)) {
    if (!reading.rejected.contains(letter.choice)) named.insert(letter.choice);
  }
  if (const auto choice = only_one(named)) return picked(*choice, "closing letter");
  return std::nullopt;
}

// Small whole numbers stand in any reasoning: in a long response they say nothing, unless a
// conclusion names them.
constexpr std::size_t kLongResponse = 25;  // words

bool is_whole_number(std::u16string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char16_t c) { return c >= u'0' && c <= u'9'; });
}

Reading read_text(std::u16string text, const PreparedChoices& choices) {
  Reading reading;
  reading.text = std::move(text);
  const bool is_long = split_words(reading.text).size() > kLongResponse;
  for (const Mention& mention : find_mentions(reading.text, choices)) {
    const std::u16string_view words = std::u16string_view(reading.text)
        .substr(mention.span.begin, mention.span.end - mention.span.begin);
    const bool idle = is_long && is_whole_number(words) && !in_conclusion(reading.text, mention.span);
    if (!mention.negated && !idle) reading.mentions.push_back(mention);
  }
  if (choices.letters) {
    reading.rejected = rejected_letters(reading.text, choices.count);
    for (const LetterToken& letter : wrapped_letters(reading.text, choices.count)) {
      if (!reading.rejected.contains(letter.choice)) reading.wrapped.push_back(letter);
    }
    check_pairs(reading, choices);
  }
  return reading;
}

}  // namespace

const char* unparsed_name(Unparsed reason) {
  switch (reason) {
    case Unparsed::none: return "";
    case Unparsed::empty: return "empty";
    case Unparsed::refusal: return "refusal";
    case Unparsed::error: return "error";
    case Unparsed::missing: return "missing";
    case Unparsed::ambiguous: return "ambiguous";
    case Unparsed::no_match: return "no match";
  }
  return "";
}

Extraction extract_answer(const std::string& response, const PreparedChoices& choices) {
  const std::u16string text = normalize_response(response);
  if (text.find_first_not_of(u" \t\n") == std::u16string::npos) {
    return unparsed(Unparsed::empty, "empty");
  }
  if (const auto found = whole_response(text, choices)) return *found;
  if (is_error(text)) return unparsed(Unparsed::error, "error message");

  const Reading reading = read_text(without_echo(without_pleasantry(text), choices), choices);
  if (has_words(text) && !has_words(reading.text)) return unparsed(Unparsed::ambiguous, "listing");
  if (const auto found = explicit_cue(reading, choices)) return *found;
  if (choices.letters) {
    if (const auto found = label_at_the_head(reading, choices)) return *found;
    if (const auto found = by_letters(reading, choices)) return *found;
  }
  if (is_refusal(text)) return unparsed(Unparsed::refusal, "refusal");
  if (choices.letters) {
    if (const auto found = by_bracket(reading, choices)) return *found;
  }
  // Who turns a letter down must name another by its letter: elimination is no answer.
  if (!reading.rejected.empty()) return unparsed(Unparsed::no_match, "rejected letter");
  const std::set<int> named = named_in(reading, {0, reading.text.size()});
  if (const auto choice = only_one(named)) return picked(*choice, "choice text");
  if (named.empty()) return unparsed(Unparsed::no_match, "no rule");
  if (const auto found = by_sentence(reading)) return *found;
  return unparsed(Unparsed::ambiguous, "several choices");
}

}  // namespace probe
