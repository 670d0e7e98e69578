#include "analysis/nemo_tables.h"

#include <gtest/gtest.h>

#include "tests/support/answer_world.h"

namespace probe {
namespace {

const Cell& cell_of(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name == column) return table.rows.at(row).at(c);
  }
  throw std::runtime_error("no column " + column);
}

test::World fruit() {
  test::World world;
  world.add_item("fig-1", "fig", kOriginal, "");
  world.add_item("fig-2", "fig", kOriginal, "");
  world.add_item("plum-1", "plum", kOriginal, "");
  world.add_item("fig-c", "fig", "color", "fig-1");
  world.add_item("plum-c1", "plum", "color", "plum-1");
  world.add_item("plum-c2", "plum", "color", "plum-1");
  world.add_item("plum-c3", "plum", "color", "plum-1");
  world.add_item("fig-s", "fig", "shape", "fig-2");
  return world;
}

// Open: both fig originals right, plum wrong -> 66.7; modified: only fig-s -> 1 of 5.
// Choice: always the first choice, right at every shift -> 100, sd 0. Unsolvable: never.
int answers(const Question& question, int) {
  if (question.type == QuestionType::choice) return 0;
  if (question.type == QuestionType::unsolvable) return 1;
  const std::string& id = question.item_id;
  return id == "fig-1" || id == "fig-2" || id == "fig-s" ? 0 : -1;
}

TEST(NemoTables, Table2HasMeansDeviationsAveragesAndDeltas) {
  const test::World world = fruit();
  std::vector<Subject> subjects = {world.subject("enc", true, 1, answers),
                                   world.subject("m", false, 4, answers)};
  subjects[1].facts.encoder = "enc";
  subjects[1].facts.llm_size_b = 7;
  const Table table = overall_table(subjects, world.items);
  ASSERT_EQ(table.rows.size(), 2u);  // random choice, then the model; encoders are no MLLMs
  EXPECT_EQ(cell_of(table, 0, "orig_open").kind, Cell::Kind::unknown);
  EXPECT_NEAR(cell_of(table, 0, "mod_avg").real, 25.0, 1e-9);
  EXPECT_EQ(cell_of(table, 1, "vision_encoder").words, "enc");
  EXPECT_EQ(cell_of(table, 1, "llm").kind, Cell::Kind::unknown);
  EXPECT_NEAR(cell_of(table, 1, "orig_open").real, 200.0 / 3, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "orig_choice").real, 100.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "orig_choice_sd").real, 0.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "orig_avg").real, (200.0 / 3 + 100 + 0) / 3, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "mod_open").real, 20.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "delta_open").real, 20.0 - 200.0 / 3, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "delta_avg").real, 40.0 - (200.0 / 3 + 100) / 3, 1e-9);
}

TEST(NemoTables, AnUnaskedTypeIsUnknownInEveryCellItTouches) {
  const test::World world = fruit();
  const std::vector<Subject> subjects = {
      world.subject("m", false, 1, [](const Question& q, int) {
        return q.type == QuestionType::unsolvable ? -2 : 0;
      })};
  const Table table = overall_table(subjects, world.items);
  for (const char* column : {"orig_unsol", "orig_unsol_sd", "orig_avg", "mod_unsol", "delta_unsol",
                             "mod_avg", "delta_avg", "orig_choice_sd"}) {
    EXPECT_EQ(cell_of(table, 1, column).kind, Cell::Kind::unknown) << column;
  }
  EXPECT_NEAR(cell_of(table, 1, "orig_choice").real, 100.0, 1e-9);
  EXPECT_NE(render_csv(table).find(",,"), std::string::npos);  // empty in CSV
}

// Colour: 1 fig and 3 plums, so the originals weigh fig 1/4 (right), plum 3/4 (wrong): 25 %.
// Shape: only fig: 100 %.
TEST(NemoTables, TableEWeightsOriginalsByTheModifiedCategories) {
  const test::World world = fruit();
  const std::vector<Subject> subjects = {world.subject("m", false, 4, answers)};
  const Table table = condition_blocks_table(subjects, world.items);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(cell_of(table, 0, "condition").words, "color");
  EXPECT_NEAR(cell_of(table, 0, "orig_open").real, 25.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 0, "mod_open").real, 0.0, 1e-9);
  EXPECT_EQ(cell_of(table, 1, "condition").words, "shape");
  EXPECT_NEAR(cell_of(table, 1, "orig_open").real, 100.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 1, "mod_open").real, 100.0, 1e-9);
}

TEST(NemoTables, TableENamesCategoriesWithoutOriginals) {
  test::World world = fruit();
  world.add_item("kiwi-c", "kiwi", "color", "");
  const Table table =
      condition_blocks_table({world.subject("m", false, 1, answers)}, world.items);
  EXPECT_NE(table.note.find("left out of the weights: kiwi."), std::string::npos) << table.note;
  EXPECT_NEAR(cell_of(table, 0, "orig_open").real, 25.0, 1e-9);
}

TEST(NemoTables, TableFComesOnlyWithSyntheticOriginals) {
  test::World world = fruit();
  EXPECT_TRUE(synthetic_table({world.subject("m", false, 1, answers)}, world.items).rows.empty());
  world.add_item("fig-x", "fig", kSyntheticOriginal, "");
  const std::vector<Subject> subjects = {world.subject("m", false, 4, answers)};
  const Table table = synthetic_table(subjects, world.items);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_NEAR(cell_of(table, 0, "synth_open").real, 0.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 0, "synth_choice").real, 100.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 0, "delta_avg").real, 100.0 / 3 - (200.0 / 3 + 100) / 3, 1e-9);
  // They are no modified items.
  EXPECT_NEAR(cell_of(overall_table(subjects, world.items), 1, "mod_open").real, 20.0, 1e-9);
}

TEST(NemoTables, TableGSetsWordingsSideBySide) {
  const test::World world = fruit();
  const std::vector<Subject> subjects = {world.subject("m", false, 1, answers)};
  EXPECT_TRUE(prompt_table(subjects, {}, world.items, "main").rows.empty());
  const auto all_right = [](const Question& q, int) {
    return q.type == QuestionType::open ? 0 : -2;
  };
  const PromptVariant fruit_names{"Fru. Nam.", {world.subject("other", false, 1, all_right),
                                                world.subject("m", false, 1, all_right)}};
  const Table table = prompt_table(subjects, {fruit_names}, world.items, "main");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.columns[2].title, "orig. Fru. Nam.");
  EXPECT_NEAR(cell_of(table, 0, "orig_0").real, 200.0 / 3, 1e-9);
  EXPECT_NEAR(cell_of(table, 0, "orig_1").real, 100.0, 1e-9);
  EXPECT_NEAR(cell_of(table, 0, "mod_0").real, 20.0, 1e-9);
  EXPECT_EQ(cell_of(table, 1, "model").words, "other");
  EXPECT_EQ(cell_of(table, 1, "orig_0").kind, Cell::Kind::unknown);
}

TEST(NemoTables, MadeUpAnswersSaySo) {
  const test::World world = fruit();
  std::vector<Subject> subjects = {world.subject("m", false, 1, answers)};
  EXPECT_EQ(overall_table(subjects, world.items).note.find("Made up"), std::string::npos);
  subjects[0].made_up = true;
  for (const Table& table : {overall_table(subjects, world.items),
                             condition_blocks_table(subjects, world.items)}) {
    EXPECT_EQ(table.note.find("Made up for show, not measured: m."), 0u) << table.note;
  }
}

}  // namespace
}  // namespace probe
