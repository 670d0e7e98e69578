// Several embedding files as one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "probe/store/file_summary.h"

namespace probe {

struct JoinOptions {
  bool virtual_rows = false;   // leave the vectors where they are and refer to them
  bool allow_outside = false;  // virtual: files may lie outside the new file's folder
  std::string command_line;
  std::function<void(std::int64_t)> on_rows;  // called with the number of rows joined
};

struct JoinResult {
  std::int64_t items = 0, failed = 0, prompts = 0;
};

// Puts shards in their order; other files stay as given. Throws Error(input) naming the file
// and what differs, unless all are shards of one list, each once and none missing, or none
// is a shard; and all have the same bundle, options and kinds of vectors.
void check_join(std::vector<FileSummary>& files);

// Calls check_join and writes the joined file as write_embedding_file does: shards give what
// one run would have given, but for the attributes `command_line` and `merged_from`. Of
// other files, ids may not occur twice (16 bytes of memory an item), and a text that several
// hold is taken from the first. Vectors pass through in blocks of a few MB.
// Throws Error(input) for what does not belong together, and for shards whose ids are not
// those of their list.
JoinResult join_embedding_files(std::vector<FileSummary> files, const std::filesystem::path& path,
                                const JoinOptions& options);

// "3,7-9" of {3, 7, 8, 9}, as Slurm's --array takes it.
std::string number_ranges(const std::vector<std::int64_t>& ascending);

}  // namespace probe
