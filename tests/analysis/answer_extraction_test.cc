// BUGCASES g, one test an entry. "-": no choice is named.
#include "analysis/answer_extraction.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace probe {
namespace {

using Texts = std::vector<std::string>;

const Texts kAnimals = {"dog", "cat", "red boat", "none of the above"};
const Texts kCatFirst = {"cat", "dog", "red boat", "none of the above"};

std::string read(const std::string& response, const Texts& choices = kAnimals,
                 const SynonymGroups& synonyms = {}) {
  const Extraction found = extract_answer(response, prepare_choices(choices, synonyms));
  EXPECT_EQ(found.choice < 0, found.reason != Unparsed::none) << response;
  return found.choice < 0 ? "-" : std::string(1, static_cast<char>('A' + found.choice));
}

std::string reason(const std::string& response, const Texts& choices = kAnimals) {
  return unparsed_name(extract_answer(response, prepare_choices(choices)).reason);
}

TEST(Bugcase40, ArticlePronounAndFirstCapital) {
  EXPECT_EQ(read("A red boat is visible."), "C");
  EXPECT_EQ(read("A cat."), "B");
  EXPECT_EQ(read("A"), "A");
  EXPECT_EQ(read("A."), "A");
  EXPECT_EQ(read("A photo with nothing clear"), "-");
  EXPECT_EQ(read("C. A small red boat"), "C");
  EXPECT_EQ(read("Based on the picture, D"), "D");
  EXPECT_EQ(read("Answer: **D**"), "D");
  EXPECT_EQ(read("the correct one is d"), "D");
  EXPECT_EQ(read("I think it is B because I see fur"), "B");
  EXPECT_EQ(read("Choose A"), "A");
  const Texts ten = {"p", "q", "r", "s", "t", "u", "v", "w", "x", "y"};
  EXPECT_EQ(read("I think it is B because I see fur", ten), "B");
  EXPECT_EQ(read("I", ten), "I");
}

TEST(Bugcase40, LettersOfOtherItemsNeverCount) {
  EXPECT_EQ(read("E"), "-");
  EXPECT_EQ(read("The answer is (F)."), "-");
  EXPECT_EQ(read("C", {"yes", "no"}), "-");
}

TEST(Bugcase41, CueNeedsAFullLetter) {
  EXPECT_EQ(read("The answer is a dog.", kCatFirst), "B");
  EXPECT_EQ(read("The answer is below.", kCatFirst), "-");
  EXPECT_EQ(read("The answer is clearly visible: (D)", kCatFirst), "D");
  EXPECT_EQ(read("The answer is cat", kCatFirst), "A");
  EXPECT_EQ(read("The correct answer is not shown", kCatFirst), "-");
  EXPECT_EQ(read("The answer is **B**.", kCatFirst), "B");
  EXPECT_EQ(read("Answer is D-shaped plate", kCatFirst), "-");
}

TEST(Bugcase43, WhatSaysNothingHasAReason) {
  EXPECT_EQ(reason(""), "empty");
  EXPECT_EQ(reason("  \t\r\n "), "empty");
  EXPECT_EQ(reason("3"), "no match");
  EXPECT_EQ(reason("Sorry, I can't help with that image."), "refusal");
  EXPECT_EQ(reason("I cannot see the image."), "refusal");
  EXPECT_EQ(reason("Failed to obtain answer via API"), "error");
  EXPECT_EQ(reason("Error 429"), "error");
  EXPECT_EQ(reason("Cannot"), "no match");
  const Texts ten = {"p", "q", "r", "s", "t", "u", "v", "w", "x", "y"};
  EXPECT_EQ(reason("Sorry, I", ten), "refusal");
}

TEST(Bugcase44, TheLastExplicitStatementWins) {
  EXPECT_EQ(read("(A) dog (B) cat (C) red boat (D) none of the above\n\nAnswer: B"), "B");
  EXPECT_EQ(read("ANSWER: A\nHmm, on a second look:\nANSWER: B"), "B");
  EXPECT_EQ(read("The answer is B. Many would say A at first sight."), "B");
  EXPECT_EQ(read("ANSWER: AB"), "-");
  EXPECT_EQ(read("B\n\nExplanation: A is a dog, which is not seen here."), "B");
  EXPECT_EQ(read("Antwort: C"), "C");
  EXPECT_EQ(read("\\boxed{C} since E = mc^2"), "C");
  EXPECT_EQ(read("Option A is wrong, option B is wrong, so it must be C"), "C");
}

TEST(Bugcase44, ListingOfAllChoicesIsNoAnswer) {
  EXPECT_EQ(reason("(A) dog (B) cat (C) red boat (D) none of the above"), "ambiguous");
  EXPECT_EQ(reason("A. dog\nB. cat\nC. red boat\nD. none of the above"), "ambiguous");
  EXPECT_EQ(reason("Answer: A or B"), "ambiguous");
  EXPECT_EQ(reason("Answer: A, B"), "ambiguous");
}

TEST(Bugcase46, WrappersAndLanguages) {
  for (const char* response :
       {"ANSWER: (B)\nHope this helps. Looking forward to more pictures.", "[B]", "**B**",
        "**(B) cat**", "B)", "B:", "(b)", "Answer: $B", "$B$", "\\boxed{B}", "\\text{B}",
        "{\"answer\": \"B\"}", "```json\n{\"answer\":\"B. cat\"}\n```", "答案：B", "选B",
        "我选择 B", "故选（B）。", "Ｂ", "（Ｂ）", "B、", "答案是“B”", "Ответ: B",
        "B\xE2\x80\x8B", "B\r\n", "Answer:\r\nB\r\n", "Option B", "choice b",
        "Answer: \\boxed{\\text{B}}"}) {
    EXPECT_EQ(read(response), "B") << response;
  }
  EXPECT_EQ(read("{\"choice\":1}"), "-");
  EXPECT_EQ(read("В"), "-") << "a Cyrillic letter";
  EXPECT_EQ(read("Answer: $LETTER"), "-");
}

TEST(Bugcase47, ChoiceTexts) {
  const Texts yes_no = {"yes", "no"};
  EXPECT_EQ(read("Yes, a death notice is shown", yes_no), "A");
  EXPECT_EQ(read("There is nothing unknown; yes", yes_no), "A");
  EXPECT_EQ(read("a caterpillar", {"cat", "caterpillar"}), "B");
  EXPECT_EQ(read("It is at the top left.", {"left", "top left"}), "B");
  EXPECT_EQ(read("left", {"left", "top left"}), "A");
  EXPECT_EQ(read("10", {"1", "10", "100"}), "B");
  EXPECT_EQ(read("There are 10.", {"1", "10", "100"}), "B");
  EXPECT_EQ(read("dogs", {"dog", "dogs"}), "B");
  EXPECT_EQ(read("two dogs", {"dog", "dogs"}), "B");
  EXPECT_EQ(read("sofa", {"couch", "chair"}), "-");
  EXPECT_EQ(read("sofa", {"couch", "chair"}, {{"couch", "sofa"}}), "A");
  EXPECT_EQ(read("not red", {"red", "not red"}), "B");
  EXPECT_EQ(reason("a dog and a cat"), "ambiguous");
}

TEST(Bugcase47, EqualChoicesAreRefused) {
  EXPECT_PROBE_ERROR(prepare_choices({"dog", "cat", "dog"}), ErrorKind::input,
                     "choice \"dog\" stands twice");
  EXPECT_PROBE_ERROR(prepare_choices({"dog", "ｄｏｇ"}), ErrorKind::input, "stands twice");
  EXPECT_PROBE_ERROR(prepare_choices({}), ErrorKind::input, "choices: expected 1 to 26, got 0");
}

TEST(AnswerExtraction, PluralsAndSynonymsOnlyWhereChoicesStayDistinct) {
  EXPECT_EQ(read("I see three apples", {"apple", "pear"}), "A");
  EXPECT_EQ(read("strawberry", {"strawberries", "cherries"}), "A");
  EXPECT_EQ(read("peaches", {"peach", "tomato"}), "A");
  EXPECT_EQ(read("tomatoes", {"peach", "tomato"}), "B");
  // A word that would stand for both choices stands for neither.
  EXPECT_EQ(read("fruit", {"apple", "pear"}, {{"apple", "fruit"}, {"pear", "fruit"}}), "-");
  // A synonym never overrides a choice's own text.
  EXPECT_EQ(read("sofa", {"couch", "sofa"}, {{"couch", "sofa"}}), "B");
}

TEST(AnswerExtraction, NegatedAndRejectedChoicesDoNotCount) {
  EXPECT_EQ(read("It is not a dog, it is a cat"), "B");
  EXPECT_EQ(read("No dog here"), "-");
  EXPECT_EQ(read("(B) no. The person is not eating, so the option (A) yes is incorrect.",
                 {"yes", "no"}),
            "B");
  EXPECT_EQ(read("Option (B) is not the correct answer; a dog and a cat may be seen."), "-");
}

TEST(AnswerExtraction, ForeignLetteringAndContradictions) {
  const Texts images = {"the second image", "the third image"};
  EXPECT_EQ(read("The third image (C) is most similar to the first image (A).", images), "B");
  EXPECT_EQ(reason("The second image (B) is most similar to the first image.", images),
            "ambiguous");
  EXPECT_EQ(read("The second image (A) is most similar.", images), "A");
}

TEST(AnswerExtraction, ConclusionAndOpeningSentence) {
  const Texts boxes = {"Box A", "Box B"};
  EXPECT_EQ(read("Box A is large and Box B is small. Therefore, Box B fits better than Box A.",
                 boxes),
            "B");
  EXPECT_EQ(read("It is a cat. A dog would have a different snout."), "B");
  EXPECT_EQ(reason("A dog is chasing something. It is a cat."), "ambiguous");
}

// Every choice's text, fed as the response, gives its own letter (BUGCASES 47, check).
TEST(AnswerExtraction, EveryChoiceTextGivesItsOwnLetter) {
  const std::vector<Texts> items = {
      kAnimals, {"yes", "no"}, {"left", "top left"}, {"1", "10", "100"}, {"dog", "dogs"},
      {"red", "not red"}, {"apple", "orange", "tomato", "all other options are incorrect"},
      {"A", "B", "C", "D"}, {"for", "[a-z]+", "([1-9][0-9]*)|0", "none of these"},
      {"$x = 1$", "$x = -1$", "-65.1 MPa", "65.1 MPa"}, {"s", "s+", "s*", "ss"},
      {"the second image", "the third image"}, {"I only", "I and II only", "II, III, and IV only"},
      {"A dog", "B movie", "sorry", "Error 404"}, {"1 person", "one person", "people"},
      {"14%", "14", "1.4", "1,4"}, {"Dog", "dog"}, {"½", "1/2"}, {"(A) cat", "(B) dog"}};
  for (const Texts& choices : items) {
    const PreparedChoices prepared = prepare_choices(choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      EXPECT_EQ(extract_answer(choices[i], prepared).choice, static_cast<int>(i)) << choices[i];
    }
  }
}

// The one exception: a text that is the letter of another choice says two things.
TEST(AnswerExtraction, LetterAndTextAtOdds) {
  EXPECT_EQ(reason("C", {"C", "D", "B", "G"}), "ambiguous");
  EXPECT_EQ(read("The answer is (C).", {"C", "D", "B", "G"}), "C");
}

TEST(AnswerExtraction, OpenQuestionsKnowNoLetters) {
  const PreparedChoices names = prepare_choices({"apple", "custard apple", "kiwi"}, {}, false);
  EXPECT_EQ(extract_answer("A", names).reason, Unparsed::no_match);
  EXPECT_EQ(extract_answer("Custard apples.", names).choice, 1);
  EXPECT_EQ(extract_answer("The object is an apple", names).choice, 0);
}

TEST(AnswerExtraction, HostileTextIsNoTrouble) {
  EXPECT_EQ(read(std::string("\xFF\xFE B")), "-");
  EXPECT_EQ(read(std::string(200000, '(')), "-");
  EXPECT_EQ(read(std::string(100000, ' ') + "B"), "B");
  std::string mixed;
  for (int i = 0; i < 20000; ++i) mixed += "([*";
  EXPECT_EQ(read(mixed), "-");
  // Loops without an end would overflow ICU's stack.
  std::string options = "The answer is ", numbers;
  for (int i = 0; i < 100000; ++i) options += "option ", numbers += "1.";
  EXPECT_EQ(read(options), "-");
  EXPECT_EQ(read(numbers), "-");
}

}  // namespace
}  // namespace probe
