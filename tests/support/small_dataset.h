// A dataset of a few demo photos in a folder of the test's own.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace probe::test {

inline std::filesystem::path demo_folder() { return PROBE_SOURCE_DIR "/demo"; }

// Copies two photos each of these categories, with a manifest and a choice question each
// (`wrong` are the distractors).
inline std::filesystem::path write_small_dataset(const TempDir& folder,
                                                 const std::vector<std::string>& categories,
                                                 const std::vector<std::string>& wrong) {
  std::string items, questions;
  for (const std::string& category : categories) {
    for (const char* number : {"01", "02"}) {
      const std::string id = category + "-" + number;
      const std::string image = id + ".jpg";
      std::filesystem::copy_file(
          demo_folder() / "originals" / category / image, folder.path() / image,
          std::filesystem::copy_options::overwrite_existing);
      items += "{\"id\":\"" + id + "\",\"image\":\"" + image + "\",\"category\":\"" + category +
               "\"}\n";
      questions += "{\"question_id\":\"" + id + "/choice\",\"item_id\":\"" + id +
                   "\",\"type\":\"choice\",\"choices\":[\"" + category + "\"";
      for (const std::string& name : wrong) questions += ",\"" + name + "\"";
      questions += "],\"answer\":0}\n";
    }
  }
  folder.write("questions.jsonl", questions);
  return folder.write("items.jsonl", items);
}

}  // namespace probe::test
