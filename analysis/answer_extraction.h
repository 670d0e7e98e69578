// Which choice a model's free-text response names (NEMO C.3; BUGCASES g). The rules stand in
// docs/answers.md, in the order in which they are tried. Nothing is random and nothing is
// guessed: what no rule decides stays unparsed, with the reason.
#pragma once

#include <string>

#include "analysis/choice_text.h"

namespace probe {

enum class Unparsed {
  none,       // a choice was found
  empty,      // nothing but blanks
  refusal,    // "Sorry, I can't help with that image."
  error,      // "Error 429": the model was not heard
  missing,    // no response at all
  ambiguous,  // more than one choice is named, and no rule prefers one
  no_match,   // no choice is named
};

// "empty", "refusal", ...; "" for none.
const char* unparsed_name(Unparsed reason);

struct Extraction {
  int choice = -1;  // position among the choices given, or -1
  Unparsed reason = Unparsed::none;
  const char* rule = "";  // name of the rule that decided, as in docs/answers.md
};

Extraction extract_answer(const std::string& response, const PreparedChoices& choices);

}  // namespace probe
