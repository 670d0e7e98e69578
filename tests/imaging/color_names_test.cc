#include "probe/imaging/color_names.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "probe/data/delimited.h"

namespace probe {
namespace {

TEST(ColorNames, EveryNameOfTableAIsKnown) {
  const DelimitedTable table =
      read_delimited(std::string(PROBE_SOURCE_DIR) + "/demo/table_a.csv", ',');
  ASSERT_EQ(table.rows.size(), 45u);
  for (const DelimitedRow& row : table.rows) {
    for (std::size_t i = 1; i < row.fields.size(); ++i) {
      EXPECT_TRUE(find_named_color(row.fields[i])) << row.fields[i];
    }
  }
}

// NEMO's Table D; its file is not part of this project.
TEST(ColorNames, EveryNameOfTableDIsKnown) {
  for (const char* name :
       {"bright yellow", "vibrant green", "neon pink", "iridescent blue", "pure white",
        "fiery red", "deep purple", "emerald green", "sky blue", "golden"}) {
    EXPECT_TRUE(find_named_color(name)) << name;
  }
  EXPECT_FALSE(find_named_color("beige"));
  EXPECT_EQ(find_named_color("  Sky BLUE ")->name, "sky blue");
}

TEST(ColorNames, AllCanBeShownAndStandInOrder) {
  const auto colors = named_colors();
  for (const NamedColor& color : colors) {
    EXPECT_TRUE(in_srgb(to_oklab(color.target))) << color.name;
    EXPECT_GT(color.lightness_slack, 0.0F) << color.name;
  }
  EXPECT_TRUE(std::is_sorted(colors.begin(), colors.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

// Anchors from CSS Color 4's keywords, a table that is not ours.
TEST(ColorNames, HuesAgreeWithCssKeywords) {
  struct Case {
    const char* name;
    Rgb css;
  };
  for (const Case& c :
       {Case{"bright red", {255, 0, 0}}, Case{"crimson red", {220, 20, 60}},
        Case{"golden", {255, 215, 0}}, Case{"vibrant orange", {255, 140, 0}},
        Case{"bright yellow", {255, 255, 0}}, Case{"light green", {144, 238, 144}},
        Case{"bright cyan", {0, 255, 255}}, Case{"turquoise", {64, 224, 208}},
        Case{"sky blue", {135, 206, 235}}, Case{"rich blue", {0, 0, 255}},
        Case{"light pink", {255, 182, 193}}, Case{"warm brown", {139, 69, 19}}}) {
    const Oklch css = to_oklch(to_oklab(c.css));
    EXPECT_LT(hue_distance(css.hue, find_named_color(c.name)->target.hue), 15.0F) << c.name;
  }
}

TEST(ColorNames, Slug) {
  EXPECT_EQ(color_slug("Deep purple"), "deep-purple");
}

}  // namespace
}  // namespace probe
