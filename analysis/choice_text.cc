#include "analysis/choice_text.h"

#include <algorithm>
#include <array>
#include <set>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

using Words = std::vector<std::u16string>;
using Phrase = PreparedChoices::Phrase;

Words words_of(std::u16string_view text) {
  Words words;
  for (Word& word : split_words(text)) words.push_back(std::move(word.text));
  return words;
}

Words folded(Words words) {
  for (std::u16string& word : words) word = fold_word(word);
  return words;
}

std::u16string collapse_blanks(std::u16string_view text) {
  std::u16string out;
  for (const char16_t c : text) {
    if (c == u' ' || c == u'\n' || c == u'\t') {
      if (!out.empty() && out.back() != u' ') out += u' ';
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == u' ') out.pop_back();
  return out;
}

// Without the marks around it that say nothing: "**cat**." is cat.
std::u16string_view trimmed(std::u16string_view text) {
  constexpr std::u16string_view kAround = u" \t\n.,;:!?\"'`*_。、";
  const std::size_t begin = text.find_first_not_of(kAround);
  if (begin == std::u16string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kAround) + 1 - begin);
}

// Found everywhere in any text; only as a whole response do they mean the choice.
bool says_nothing_inside(const Words& words) {
  if (words.size() != 1) return false;
  static const std::set<std::u16string> kFunctionWords = {
      u"for", u"of",  u"to",   u"in",  u"on",   u"at",  u"is",   u"it",   u"and", u"or",  u"be",
      u"by",  u"as",  u"with", u"are", u"this", u"that", u"from", u"if",  u"do",  u"while", u"we"};
  const bool one_letter = words[0].size() == 1 && !(words[0][0] >= u'0' && words[0][0] <= u'9');
  return one_letter || kFunctionWords.contains(words[0]);
}

void add_phrase(PreparedChoices& choices, Phrase phrase) {
  if (phrase.words.empty()) return;
  if (!says_nothing_inside(phrase.words)) choices.phrases.push_back(phrase);
  choices.whole.push_back(std::move(phrase));
}

// Another choice has this phrase as well.
bool taken(const std::vector<Words>& names, const Words& words, std::size_t choice) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != choice && names[i] == words) return true;
  }
  return false;
}

void add_synonyms(const SynonymGroups& groups, const std::vector<Words>& names,
                  PreparedChoices& choices) {
  std::vector<Phrase> found;
  for (const auto& group : groups) {
    std::vector<Words> members;
    for (const std::string& member : group) {
      members.push_back(folded(words_of(normalize_response(member))));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || std::find(members.begin(), members.end(), names[i]) == members.end()) {
        continue;
      }
      for (const Words& member : members) {
        if (member != names[i] && !taken(names, member, i)) {
          found.push_back({static_cast<int>(i), member, true});
        }
      }
    }
  }
  for (const Phrase& phrase : found) {  // a word that would mean two choices means none
    const bool shared = std::any_of(found.begin(), found.end(), [&](const Phrase& other) {
      return other.choice != phrase.choice && other.words == phrase.words;
    });
    if (!shared) add_phrase(choices, phrase);
  }
}

bool is_negator(const std::u16string& word) {
  static const std::set<std::u16string> kNegators = {u"not",  u"no",      u"never", u"without",
                                                     u"neither", u"nor",  u"than",  u"unlike",
                                                     u"cannot", u"isn't", u"aren't"};
  return kNegators.contains(word);
}

}  // namespace

PreparedChoices prepare_choices(const std::vector<std::string>& choices,
                                const SynonymGroups& synonyms, bool letters) {
  if (choices.empty() || (letters && choices.size() > 26)) {
    throw Error(ErrorKind::input, "choices: expected 1 to 26, got " +
                                      std::to_string(choices.size()));
  }
  PreparedChoices prepared;
  prepared.count = static_cast<int>(choices.size());
  prepared.letters = letters;
  std::set<std::u16string> seen;
  std::vector<Words> plain, fold;
  for (const std::string& choice : choices) {
    prepared.texts.push_back(collapse_blanks(normalize_response(choice)));
    const std::u16string& text = prepared.texts.back();
    if (!text.empty() && !seen.insert(text).second) {
      throw Error(ErrorKind::input, "choice \"" + printable(choice) + "\" stands twice");
    }
    plain.push_back(words_of(text));
    fold.push_back(folded(plain.back()));
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const int choice = static_cast<int>(i);
    if (!taken(plain, plain[i], i)) add_phrase(prepared, {choice, plain[i], false});
    if (!taken(fold, fold[i], i)) add_phrase(prepared, {choice, fold[i], true});
  }
  add_synonyms(synonyms, fold, prepared);
  return prepared;
}

std::optional<int> choice_that_is(std::u16string_view text, const PreparedChoices& choices) {
  const std::u16string whole = collapse_blanks(text);
  const std::u16string_view core = trimmed(whole);
  const auto only = [&](auto&& matches) {
    int found = -1, hits = 0;
    for (int i = 0; i < choices.count; ++i) {
      if (!choices.texts[i].empty() && matches(choices.texts[i])) found = i, ++hits;
    }
    return hits == 1 ? std::optional(found) : std::nullopt;
  };
  if (auto hit = only([&](const auto& t) { return t == whole; })) return hit;
  if (core.empty()) return std::nullopt;
  if (auto hit = only([&](const auto& t) { return trimmed(t) == core; })) return hit;
  if (auto hit = only([&](const auto& t) { return lower_case(trimmed(t)) == lower_case(core); })) {
    return hit;
  }
  const Words words = words_of(core), fold = folded(words);
  for (const bool use_folded : {false, true}) {
    std::set<int> found;
    for (const Phrase& phrase : choices.whole) {
      if (phrase.folded == use_folded && phrase.words == (use_folded ? fold : words)) {
        found.insert(phrase.choice);
      }
    }
    if (found.size() == 1) return *found.begin();
  }
  return std::nullopt;
}

std::vector<Mention> find_mentions(std::u16string_view text, const PreparedChoices& choices) {
  const std::vector<Word> words = split_words(text);
  Words plain, fold;
  for (const Word& word : words) {
    plain.push_back(word.text);
    fold.push_back(fold_word(word.text));
  }
  struct Candidate {
    std::size_t begin, length;
    bool folded;
    int choice;
  };
  std::vector<Candidate> candidates;
  for (const Phrase& phrase : choices.phrases) {
    const Words& stream = phrase.folded ? fold : plain;
    auto at = stream.begin();
    while ((at = std::search(at, stream.end(), phrase.words.begin(), phrase.words.end())) !=
           stream.end()) {
      candidates.push_back({static_cast<std::size_t>(at - stream.begin()), phrase.words.size(),
                            phrase.folded, phrase.choice});
      ++at;
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    if (a.length != b.length) return a.length > b.length;
    if (a.folded != b.folded) return !a.folded;
    return a.begin < b.begin;
  });
  std::vector<bool> used(words.size(), false);
  std::vector<Mention> mentions;
  for (const Candidate& c : candidates) {
    bool free = true;
    for (std::size_t w = c.begin; w < c.begin + c.length; ++w) free = free && !used[w];
    if (!free) continue;
    for (std::size_t w = c.begin; w < c.begin + c.length; ++w) used[w] = true;
    Mention mention{c.choice,
                    {words[c.begin].span.begin, words[c.begin + c.length - 1].span.end}, false};
    if (c.begin > 0) {
      const bool instead = c.begin > 1 && plain[c.begin - 1] == u"of" &&
                           plain[c.begin - 2] == u"instead";
      // A negator before a comma or full stop belongs to what stands before it: "No, a cat".
      const std::u16string_view between = text.substr(
          words[c.begin - 1].span.end, mention.span.begin - words[c.begin - 1].span.end);
      const bool joined = between.find_first_of(u".,;:!?\n") == std::u16string_view::npos;
      mention.negated = joined && (instead || is_negator(plain[c.begin - 1]));
    }
    mentions.push_back(mention);
  }
  std::sort(mentions.begin(), mentions.end(),
            [](const Mention& a, const Mention& b) { return a.span.begin < b.span.begin; });
  return mentions;
}

std::u16string without_echo(const std::u16string& text, const PreparedChoices& choices) {
  if (choices.count < 2 || !choices.letters) return text;
  for (const auto& t : choices.texts) {
    if (t.empty()) return text;
  }
  const std::u16string lower = lower_case(text);
  const auto skip = [&](std::size_t at, std::u16string_view marks) {
    for (int n = 0; n < 12 && at < lower.size() && marks.find(lower[at]) != marks.npos; ++n) ++at;
    return at;
  };
  // End of the listing that begins at `at`, or npos.
  const auto listing_end = [&](std::size_t at) {
    for (int i = 0; i < choices.count; ++i) {
      at = skip(at, u" \t\n.,;/|*-([");
      const std::u16string wanted = lower_case(choices.texts[i]);
      if (at >= lower.size() || lower[at] != static_cast<char16_t>(u'a' + i)) {
        return std::u16string::npos;
      }
      const std::size_t label = at + 1;
      at = skip(label, u").:]* \t");
      if (at == label || lower.compare(at, wanted.size(), wanted) != 0) return std::u16string::npos;
      at += wanted.size();
    }
    return at;
  };
  std::u16string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool word_starts = at == 0 || !is_word_character(lower[at - 1]);
    const bool label = lower[at] == u'(' || lower[at] == u'[' || lower[at] == u'a';
    const std::size_t end = word_starts && label ? listing_end(at) : std::u16string::npos;
    if (end != std::u16string::npos && end > at) {
      out += u'\n';
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace probe
