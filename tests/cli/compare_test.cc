// probe compare with MLLM responses and published scores, as a user runs it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::run_probe;

json rows_of(const json& report, const std::string& name) {
  for (const json& table : report.at("tables")) {
    if (table.at("name") == name) return table.at("rows");
  }
  ADD_FAILURE() << "no table " << name;
  return json::array();
}

json figure_of(const json& report, const std::string& name) {
  for (const json& figure : report.at("figures")) {
    if (figure.at("name") == name) return figure;
  }
  ADD_FAILURE() << "no figure " << name;
  return {{"marks", json::array()}};
}

// Six photos and a twin of each: a copy under another name, so that an encoder must answer
// both alike. The choice questions are those of the small dataset; the right answer stands
// at A at shift 0, D at 1, C at 2, B at 3.
class CompareCommand : public testing::Test {
 protected:
  const std::vector<std::string> kNames = {"banana", "kiwi", "tomato"};
  test::TempDir home_, data_;
  std::string items_ =
      test::write_small_dataset(data_, kNames, {"egg", "pineapple", "avocado"});
  std::string questions_ = data_.path() / "questions.jsonl";
  std::vector<std::string> ids_;

  void SetUp() override {
    std::string items = test::slurp(items_), questions;
    for (const std::string& name : kNames) {
      for (const char* number : {"01", "02"}) {
        const std::string source = name + "-" + number, twin = source + "-red";
        std::filesystem::copy_file(data_.path() / (source + ".jpg"),
                                   data_.path() / (twin + ".jpg"));
        items += "{\"id\":\"" + twin + "\",\"image\":\"" + twin + ".jpg\",\"category\":\"" + name +
                 "\",\"condition\":\"color\",\"original_id\":\"" + source + "\"}\n";
        for (const std::string& id : {source, twin}) {
          ids_.push_back(id);
          questions += "{\"question_id\":\"" + id + "/open\",\"item_id\":\"" + id +
                       "\",\"type\":\"open\",\"answer\":\"" + name + "\"}\n" +
                       "{\"question_id\":\"" + id + "/choice\",\"item_id\":\"" + id +
                       "\",\"type\":\"choice\",\"choices\":[\"" + name +
                       "\",\"egg\",\"pineapple\",\"avocado\"],\"answer\":0}\n" +
                       "{\"question_id\":\"" + id + "/unsolvable\",\"item_id\":\"" + id +
                       "\",\"type\":\"unsolvable\",\"choices\":[\"egg\",\"pineapple\",\"avocado\","
                       "\"all other options are incorrect\"],\"answer\":3}\n";
        }
      }
    }
    data_.write("items.jsonl", items);
    data_.write("questions.jsonl", questions);
  }

  static std::string line(const std::string& model, const std::string& question, int shift,
                          const std::string& text, bool made_up = false) {
    json row = {{"model", model}, {"question_id", question}, {"shift", shift}, {"response", text}};
    if (made_up) row["made_up"] = true;
    return row.dump() + "\n";
  }

  // Right on every original at every shift, never on a twin.
  std::string falls_for_colours(const std::string& model, bool made_up = false) {
    std::string text;
    for (const std::string& id : ids_) {
      const bool original = !id.ends_with("-red");
      text += line(model, id + "/open", 0, original ? id.substr(0, id.find('-')) : "ball", made_up);
      for (int shift = 0; shift < 4; ++shift) {
        const std::string right(1, "ADCB"[shift]), wrong(1, "BADC"[shift]);  // wrong: egg
        text += line(model, id + "/choice", shift, original ? right : wrong, made_up);
        const std::string reject(1, "DCBA"[shift]);
        const std::string other = reject == "A" ? "B" : "A";
        text += line(model, id + "/unsolvable", shift, original ? reject : other, made_up);
      }
    }
    return text;
  }

  test::ProgramResult compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", items_, "--json", "-q"});
    return run_probe(arguments, home_.path());
  }
  json report(const std::vector<std::string>& arguments) {
    const auto result = compare(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

TEST_F(CompareCommand, EncodersResponsesAndPublishedScoresStandTogether) {
  const auto responses = data_.write("r.jsonl", falls_for_colours("m-7b", true));
  const auto models = data_.write("models.csv",
                                  "model,family,encoder,llm,llm_size_b\nm-7b,M,demo,,7\n");
  const json out = report({"--responses", responses, "--models", models, "--published",
                           PROBE_SOURCE_DIR "/demo/nemo_table2.csv"});
  const json row = rows_of(out, "table_2").at(1);
  EXPECT_EQ(row.at("model"), "m-7b");
  EXPECT_EQ(row.at("vision_encoder"), "demo");
  EXPECT_TRUE(row.at("llm").is_null());
  EXPECT_NEAR(row.at("orig_avg").get<double>(), 100.0, 1e-9);
  EXPECT_NEAR(row.at("delta_avg").get<double>(), -100.0, 1e-9);
  // Fig. 3 shows the encoder as the comparison table has it, and the model beside it.
  const json encoder = rows_of(out, "comparison").at(0);
  const json fig3 = figure_of(out, "fig3_choice_by_encoder");
  ASSERT_EQ(fig3.at("marks").size(), 4u);
  for (const json& mark : fig3.at("marks")) EXPECT_EQ(mark.at("group"), "demo");
  EXPECT_NEAR(fig3.at("marks").at(0).at("value").get<double>(),
              encoder.at("choice_original").at("percent").get<double>(), 1e-9);
  EXPECT_NEAR(fig3.at("marks").at(0).at("low").get<double>(),
              encoder.at("choice_original").at("low").get<double>(), 1e-9);
  EXPECT_EQ(fig3.at("marks").at(3).at("x"), "m-7b");
  EXPECT_NEAR(fig3.at("marks").at(3).at("value").get<double>(), 0.0, 1e-9);
  // The others are there, and every one that rests on the responses says they were made up.
  std::set<std::string> names;
  for (const json& figure : out.at("figures")) {
    const std::string name = figure.at("name"), title = figure.at("title");
    EXPECT_TRUE(names.insert(name).second) << name;
    const bool published = name.starts_with("published");
    const bool made_up = !published && name != "fig5_matching" && !name.ends_with("_demo");
    EXPECT_EQ(title.find("made up for show") != std::string::npos, made_up) << title;
    EXPECT_EQ(title.find("not comparable") != std::string::npos, published) << title;
  }
  for (const char* name : {"fig4_size", "fig5_matching", "fig6_open_original", "fig6_open_modified",
                           "fig_g_confusion_demo", "fig_g_chord_m_7b", "published_fig3",
                           "published_fig4"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  // The drop is paired by source: six pairs, all lost: p = 2 * 0.5^6.
  bool found = false;
  for (const json& drop : rows_of(out, "drop")) {
    if (drop.at("subject") != "m-7b" || drop.at("type") != "choice") continue;
    found = true;
    EXPECT_EQ(drop.at("method"), "paired");
    EXPECT_EQ(drop.at("modified"), 6);
    EXPECT_NEAR(drop.at("mcnemar_p").get<double>(), 0.03125, 1e-9);
  }
  EXPECT_TRUE(found);
  // No published row is compared with anything of ours.
  for (const char* table : {"encoder_gap", "drop", "paired_tests"}) {
    for (const json& entry : out.at("tables")) {
      if (entry.at("name") != table) continue;
      EXPECT_EQ(entry.dump().find("LLaVA"), std::string::npos) << table;
    }
  }
  EXPECT_EQ(rows_of(out, "published").size(), 28u);
}

TEST_F(CompareCommand, TextCsvAndJsonSayUnknownEachInItsWay) {
  const auto responses =
      data_.write("r.jsonl", line("m", "kiwi-01/open", 0, "kiwi"));
  const std::vector<std::string> arguments = {"--responses", responses, "--asked-only"};
  const json row = rows_of(report(arguments), "table_2").at(1);
  EXPECT_NEAR(row.at("orig_open").get<double>(), 100.0, 1e-9);
  EXPECT_TRUE(row.at("orig_choice").is_null());
  EXPECT_TRUE(row.at("mod_open").is_null());
  const auto text = run_probe({"compare", items_, "-q", "--responses", responses, "--asked-only"},
                              home_.path());
  EXPECT_NE(text.out.find("unknown"), std::string::npos);
  const auto csv = run_probe({"compare", items_, "-q", "--responses", responses, "--asked-only",
                              "--format", "csv"}, home_.path());
  EXPECT_NE(csv.out.find("\nm,,,,100"), std::string::npos) << csv.out;
}

// One model was asked about kiwis alone: by default the rest is missing and wrong, said aloud.
TEST_F(CompareCommand, AskedOnlyLeavesOutWhatNobodyWasAsked) {
  const auto responses = data_.write("r.jsonl", line("m", "kiwi-01/choice", 0, "A") +
                                                    line("m", "kiwi-02/choice", 0, "kiwi"));
  const auto all = compare({"--responses", responses});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_NE(all.err.find("m: 10 of 12 expected responses are missing and count as wrong"),
            std::string::npos)
      << all.err;
  EXPECT_NEAR(rows_of(json::parse(all.out), "table_2").at(1).at("orig_choice").get<double>(),
              100.0 / 3, 1e-9);
  const json asked = report({"--responses", responses, "--asked-only"});
  EXPECT_NEAR(rows_of(asked, "table_2").at(1).at("orig_choice").get<double>(), 100.0, 1e-9);
  EXPECT_EQ(rows_of(asked, "comparison").at(0).at("choice_original").at("total"), 2);
}

TEST_F(CompareCommand, OtherWordingsMakeTableG) {
  std::string main_file, fruit;
  for (const std::string& id : ids_) {
    main_file += line("m", id + "/open", 0, "ball");
    fruit += line("m", id + "/open", 0, id.substr(0, id.find('-')));
  }
  const auto responses = data_.write("r.jsonl", main_file), other = data_.write("f.jsonl", fruit);
  const json out = report({"--responses", responses, "--open-prompt",
                           "Fru. Nam.=" + other.string()});
  const json row = rows_of(out, "table_g").at(0);
  EXPECT_NEAR(row.at("orig_0").get<double>(), 0.0, 1e-9);
  EXPECT_NEAR(row.at("mod_1").get<double>(), 100.0, 1e-9);
}

TEST_F(CompareCommand, BadInputIsNamedBeforeImagesAreRead) {
  const auto responses = data_.write("r.jsonl", line("m", "kiwi-01/choice", 0, "A"));
  const auto twice = data_.write("s.jsonl", line("m", "kiwi-01/choice", 0, "B"));
  const auto fails = [&](const std::vector<std::string>& arguments, int code,
                         const std::string& message) {
    const auto result = compare(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  };
  fails({"--responses", responses, twice}, 1,
        "s.jsonl:1: model \"m\" answers question \"kiwi-01/choice\" at shift 0 as in");
  fails({"--asked-only"}, 2, "--asked-only: needs --responses");
  fails({"--responses", responses, "--open-prompt", "file.jsonl"}, 2,
        "--open-prompt: expected NAME=FILE, got \"file.jsonl\"");
  const auto models = data_.write("models.csv", "model,llm_size_b\nm,seven\n");
  fails({"--responses", responses, "--models", models}, 1,
        "models.csv: row 1: llm_size_b: expected a number from 0 to 1000000, got \"seven\"");
  const auto flag = data_.write(
      "t.jsonl", "{\"model\":\"m\",\"question_id\":\"q\",\"response\":\"A\",\"made_up\":\"yes\"}\n");
  fails({"--responses", flag}, 1, "t.jsonl:1: \"made_up\": expected true or false, got string");
  EXPECT_FALSE(std::filesystem::exists(home_.path() / ".cache/probe/embeddings"));
}

// BUGCASES 56: what could not be used is listed, the rest is compared, and the exit code says so.
TEST_F(CompareCommand, Bugcase56_UnknownQuestionsAreListedAndTheRestIsCompared) {
  const auto responses = data_.write(
      "r.jsonl", line("m", "kiwi-01/choice", 0, "A") + line("m", "nowhere", 0, "A"));
  const auto result = compare({"--responses", responses, "--asked-only"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("failed: nowhere"), std::string::npos) << result.err;
  EXPECT_EQ(rows_of(json::parse(result.out), "table_2").size(), 2u);
}

// BUGCASES 43: silence earns nothing, and nothing is drawn by lot.
TEST_F(CompareCommand, Bugcase43_SilenceIsWrongAndRunsAreEqual) {
  std::string text;
  for (const std::string& id : ids_) text += line("m", id + "/choice", 0, "Error 429");
  const auto responses = data_.write("r.jsonl", text);
  const auto first = compare({"--responses", responses}), second = compare({"--responses", responses});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  const json out = json::parse(first.out);
  EXPECT_NEAR(rows_of(out, "table_2").at(1).at("orig_choice").get<double>(), 0.0, 1e-9);
  const json figure = figure_of(out, "fig_g_chord_m");
  for (const json& mark : figure.at("marks")) {
    EXPECT_EQ(mark.at("x"), "(unparsed)");
  }
}

// BUGCASES 49: byte order mark, CRLF and a blank line in the CSVs change nothing.
TEST_F(CompareCommand, Bugcase49_LineEndsAndMarksChangeNothing) {
  const auto with = [&](const std::string& mark, const std::string& end) {
    const auto responses = data_.write("r.csv", mark + "model,question_id,shift,response" + end +
                                                    "m,kiwi-01/choice,0,A" + end + end +
                                                    "m,kiwi-02/choice,0,B" + end);
    const auto models = data_.write(
        "models.csv", mark + "model,encoder" + end + "m,demo" + end + end);
    return rows_of(report({"--responses", responses, "--models", models, "--asked-only"}),
                   "encoder_gap");
  };
  const json plain = with("", "\n");
  EXPECT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain, with("\xEF\xBB\xBF", "\r\n"));
}

// The demo's sample file: every figure of the list can be drawn, all of it labelled.
TEST_F(CompareCommand, TheSampleFilesAreMadeUpAndWhole) {
  const std::string demo = PROBE_SOURCE_DIR "/demo/";
  std::uintmax_t size = 0;
  for (const char* name : {"sample_responses.jsonl", "sample_responses_fruit.jsonl"}) {
    size += std::filesystem::file_size(demo + name);
    const std::string text = test::slurp(demo + name);
    std::size_t lines = 0, marks = 0;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) ++lines;
    for (std::size_t at = 0; (at = text.find("\"made_up\":true", at)) != std::string::npos; ++at) {
      ++marks;
    }
    EXPECT_GT(lines, 100u);
    EXPECT_EQ(lines, marks) << name;
  }
  EXPECT_LT(size, 400'000u);
  const auto scored = run_probe({"score", demo + "sample_responses_fruit.jsonl", "--questions",
                                 demo + "questions.jsonl", "-q"}, home_.path());
  EXPECT_EQ(scored.exit_code, 0);
  EXPECT_NE(scored.err.find("made-up-7b were made up for show: nothing was measured"),
            std::string::npos)
      << scored.err;
}

}  // namespace
}  // namespace probe
