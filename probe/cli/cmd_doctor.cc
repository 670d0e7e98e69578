// probe doctor: what a report of a problem needs, and what will go wrong.
#include <fmt/core.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <sstream>

#include "encoders/bundle_search.h"
#include "encoders/encoder.h"
#include "index/flat_index.h"
#include "probe/cli/commands.h"
#include "probe/cli/features.h"
#include "probe/cli/machine.h"
#include "probe/cli/output.h"
#include "probe/codec/codec.h"
#include "probe/core/error.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct DoctorOptions {
  fs::path encoder_dir;
  OutputOptions output;
};

// Of those that decide how fast a tower and a search run.
std::string cpu_features() {
  std::istringstream flags(line_of("/proc/cpuinfo", "flags"));
  const std::set<std::string> has{std::istream_iterator<std::string>(flags), {}};
  std::string found;
  for (const char* name : {"avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16",
                           "amx_bf16", "amx_int8"}) {
    if (has.contains(name)) found += (found.empty() ? "" : " ") + std::string(name);
  }
  return found;
}

int usable_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string binary_size(double bytes) {
  return bytes < (1 << 30) ? fmt::format("{:.1f} MiB", bytes / (1 << 20))
                           : fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

std::string free_disk(const fs::path& folder) {
  std::error_code code;
  const fs::space_info space = fs::space(folder, code);
  return code ? "" : binary_size(static_cast<double>(space.available)) + " free";
}

std::string folder_size(const fs::path& folder) {
  std::error_code code;
  std::uintmax_t bytes = 0, files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    if (!entry.is_regular_file(code)) continue;
    ++files;
    bytes += entry.file_size(code);
  }
  return fmt::format("{} files, {}", files, binary_size(static_cast<double>(bytes)));
}

std::string environment() {
  std::string set;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_WAIT_POLICY",
                           "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PROBE_ENCODERS",
                           "HDF5_USE_FILE_LOCKING", "LD_PRELOAD"}) {
    if (const char* value = std::getenv(name)) {
      set += (set.empty() ? "" : " ") + std::string(name) + "=" + value;
    }
  }
  return set.empty() ? "nothing that matters is set" : set;
}

Report run_doctor(const DoctorOptions& options) {
  Report report;
  report.command = "doctor";
  Table table;
  table.name = "doctor";
  table.title = "What probe finds here";
  table.columns = {{"part", "part"}, {"found", "found"}};
  const auto add = [&](const std::string& part, const std::string& found) {
    table.rows.push_back({text_cell(part), found.empty() ? unknown_cell() : text_cell(found)});
  };
  // A part that may be broken: the others are still told.
  const auto attempt = [&](const std::string& part, const auto& find) {
    try {
      add(part, find());
    } catch (const Error& error) {
      add(part, "cannot be used");
      report.failures.push_back({part, "", error.what()});
    }
  };
  add("probe", PROBE_VERSION);
  attempt("LibTorch", check_runtime);
  attempt("OpenCV codecs", codec_version);
  add("FAISS", faiss_version());
  add("HDF5", hdf5_version());
  add("CPU", line_of("/proc/cpuinfo", "model name"));
  add("CPU features", cpu_features());
  const int cores = usable_cores();
  add("cores", cores > 0 ? std::to_string(cores) : "");
  const double memory = available_memory();
  add("memory", memory > 0 ? binary_size(memory) + " available" : "");
  add("environment", environment());
  std::error_code code;
  const fs::path here = fs::current_path(code);
  add("disk of " + here.string(), free_disk(here));
  if (const LogPlace cache = cache_place(false); !cache.folder.empty()) {
    add("cache " + cache.folder.string(),
        folder_size(cache.folder) + "; " + free_disk(cache.folder));
  } else {
    add("cache", "none: no home folder that can be written to");
  }
  for (const BundleEntry& entry : list_bundles(bundle_folders(options.encoder_dir))) {
    attempt("encoder " + entry.name, [&] {
      const EncoderSpec spec = read_spec(entry.folder);
      return spec.architecture + ", bundle " + spec.bundle_sha256.substr(0, 12) + ", " +
             entry.folder.string();
    });
  }
  report.tables.push_back(std::move(table));
  report.notes.push_back("probe verify NAME runs an encoder's self-test");
  return report;
}

}  // namespace

Command add_doctor(CLI::App& app, const std::string&) {
  auto options = std::make_shared<DoctorOptions>();
  add_encoder_dir_option(app, options->encoder_dir);
  add_output_options(app, options->output);
  add_examples(app, {"probe doctor", "probe doctor --json > doctor.json"});
  return [options] { return show_report(run_doctor(*options), options->output); };
}

}  // namespace probe
