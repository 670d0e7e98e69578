#include "probe/cli/pull_encoder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "encoders/bundle_search.h"
#include "encoders/spec.h"
#include "probe/cli/child_process.h"
#include "probe/cli/verify_bundle.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// Short names that the exporter knows too (KNOWN in encoders/export/probe_export/sources.py).
constexpr const char* kShortNames[] = {"clip", "siglip", "clip-h", "eva"};
constexpr const char* kInstall =
    "pip install -r encoders/export/requirements.txt && pip install --no-deps encoders/export";

bool is_short_name(const std::string& model) {
  return std::find(std::begin(kShortNames), std::end(kShortNames), model) !=
         std::end(kShortNames);
}

bool is_folder(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

fs::path encoder_folder(const PullOptions& options) {
  if (!options.encoder_dir.empty()) return options.encoder_dir;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw Error(ErrorKind::usage, "--encoder-dir is required, since HOME is not set");
  }
  return fs::path(home) / ".cache/probe/encoders";
}

bool has_exporter(const std::string& python) {
  try {
    return run_child(
               {python, "-P", "-c",
                "import importlib.util as u, sys; sys.exit(any(u.find_spec(x) is None for x "
                "in ('probe_export', 'torch', 'transformers', 'huggingface_hub')))"},
               {}, [](const std::string&) {})
               .exit_code == 0;
  } catch (const Error&) {
    return false;  // no such program
  }
}

// Environments that the project's scripts make, in the checkout above a build folder.
std::vector<std::string> project_pythons(bool open_clip) {
  std::vector<std::string> found;
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (!fs::exists(folder / "encoders/export/pyproject.toml", code)) continue;
    for (const char* name : {".venv-open-clip", ".venv-export", ".venv"}) {
      const fs::path python = folder / name / "bin/python";
      const bool wanted = open_clip == (std::string_view(name) == ".venv-open-clip");
      if (fs::exists(python, code)) {
        found.insert(wanted ? found.begin() : found.end(), python.string());
      }
    }
    break;
  }
  return found;
}

std::string find_python(const PullOptions& options) {
  std::string wanted = options.python;
  std::string where = "--python";
  if (const char* variable = std::getenv("PROBE_PYTHON");
      wanted.empty() && variable != nullptr) {
    wanted = variable;
    where = "PROBE_PYTHON";
  }
  if (!wanted.empty()) {
    if (has_exporter(wanted)) return wanted;
    throw Error(ErrorKind::io, where + ": " + printable(wanted) +
                                   ": a Python (3.11 or later) with the exporter is required; "
                                   "install it there with `" +
                                   kInstall + "`");
  }
  std::vector<std::string> candidates =
      project_pythons(options.model.starts_with("open_clip:") || options.model == "eva");
  candidates.push_back("python3");
  std::string tried;
  for (const std::string& python : candidates) {
    if (has_exporter(python)) return python;
    tried += (tried.empty() ? "" : ", ") + python;
  }
  throw Error(ErrorKind::io, "the exporter is not installed (looked in " + tried +
                                 "); once: `" + kInstall +
                                 "`, then --python or PROBE_PYTHON names its Python");
}

// A folder of our own beside the bundles, which goes with its scope.
class Staging {
 public:
  explicit Staging(const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    std::string name = (folder / ".pull-XXXXXX").string();
    if (code || ::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::io, folder.string() + ": cannot make a folder: " +
                                     (code ? code.message() : std::strerror(errno)));
    }
    path_ = name;
  }
  ~Staging() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs the exporter; its last line of its own is the reason if it fails.
void run_exporter(const PullOptions& options, const std::string& python,
                  const std::string& name, const fs::path& bundle) {
  const std::string mark = "probe-export: ";
  std::vector<std::string> words{
      python,          "-P",     "-m", "probe_export", options.model, "-o",
      bundle.string(), "--name", name, "--dtype",      options.dtype};
  if (!options.layers.empty()) words.push_back("--layers=" + options.layers);
  Environment added;
  if (options.quiet || ::isatty(2) == 0)
    added.emplace_back("HF_HUB_DISABLE_PROGRESS_BARS", "1");
  std::string last;   // held back: it may be the reason
  std::string stray;  // the last line that is not the exporter's own
  const auto show = [&](const std::string& text) {
    if (!options.quiet) fmt::print(stderr, "{}", text);
  };
  const ChildResult result = run_child(words, added, [&](const std::string& text) {
    if (!text.starts_with(mark)) {
      if (text.find_first_not_of(" \r\n") != std::string::npos) stray = text;
      return show(text);
    }
    if (!last.empty()) show(last);
    last = text;
  });
  if (result.stopped) throw Error(ErrorKind::io, "stopped; nothing was written");
  if (result.exit_code == 0) return show(last);
  std::string reason = last.empty() ? stray : last.substr(mark.size());
  while (!reason.empty() && std::isspace(static_cast<unsigned char>(reason.back())) != 0) {
    reason.pop_back();
  }
  if (result.exit_code > 128) {
    reason = fmt::format("the exporter was killed by signal {} ({})", result.exit_code - 128,
                         result.exit_code == 137 ? "out of memory?" : "nothing was written");
  }
  throw Error(
      ErrorKind::model,
      reason.empty() ? fmt::format("the exporter ended with {}", result.exit_code) : reason);
}

// The golden self-test, run on the bundle before it gets its name.
void check_bundle(const EncoderSpec& spec) {
  const Report report = verify_bundle(spec, {});
  if (report.failures.empty()) return;
  throw Error(ErrorKind::model, spec.name + ": " + report.failures.front().id + ": " +
                                    report.failures.front().reason + "; nothing was written");
}

void move_into_place(const fs::path& bundle, const fs::path& target, const fs::path& aside) {
  std::error_code code;
  const bool replaces = fs::exists(target, code);
  if (replaces) fs::rename(target, aside, code);
  if (!code) fs::rename(bundle, target, code);
  if (!code) return;
  std::error_code ignored;
  if (replaces && !fs::exists(target, ignored)) fs::rename(aside, target, ignored);
  throw Error(ErrorKind::io, target.string() + ": cannot be put in place: " + code.message());
}

Report describe(const EncoderSpec& spec, const std::string& done) {
  Report report;
  report.command = "encoders";
  Table table;
  table.name = "pulled";
  table.title = "Encoder " + spec.name;
  table.columns = {
      {"name", "name"},    {"result", "result"},        {"architecture", "architecture"},
      {"megabytes", "MB"}, {"bundle_sha256", "bundle"}, {"folder", "folder"}};
  std::uint64_t bytes = 0;
  for (const auto& [file, facts] : spec.files) bytes += facts.bytes;
  table.rows.push_back({text_cell(spec.name), text_cell(done), text_cell(spec.architecture),
                        number_cell(static_cast<double>(bytes) / 1e6, 1),
                        text_cell(spec.bundle_sha256), text_cell(spec.folder.string())});
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace

std::string bundle_name_of(const std::string& model) {
  if (is_short_name(model)) return model;
  std::string name = model;
  const bool folder = is_folder(model);
  if (folder) {
    const fs::path clean = fs::absolute(model).lexically_normal();
    name = (clean.filename().empty() ? clean.parent_path() : clean).filename().string();
  } else if (name.starts_with("open_clip:")) {
    name = name.substr(10, name.find('/') - 10);
  } else if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    name = name.substr(slash + 1, name.find('@') - slash - 1);
  } else {
    const auto* nearest = *std::min_element(
        std::begin(kShortNames), std::end(kShortNames), [&](const char* a, const char* b) {
          return edit_distance(a, model) < edit_distance(b, model);
        });
    throw Error(ErrorKind::usage,
                "unknown encoder \"" + printable(model) + "\"; did you mean " + nearest +
                    "? (clip, siglip, clip-h, eva, a hub id owner/name, "
                    "open_clip:ARCHITECTURE/TAG, or a folder with a checkpoint)");
  }
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    c = plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  name.erase(0, name.find_first_not_of(".-_"));
  return name.empty() ? "encoder" : name;
}

Report pull_encoder(const PullOptions& options) {
  const std::string given = options.name.empty() ? bundle_name_of(options.model) : options.name;
  if (!options.name.empty()) bundle_name_of(options.model);  // refuses what is no model
  if (given.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") != std::string::npos ||
      given.front() == '.' || given.size() > 128) {
    throw Error(ErrorKind::usage,
                "--as " + printable(given) +
                    ": lower-case letters, digits, '.', '_' and '-' are required");
  }
  const fs::path folder = encoder_folder(options);
  const fs::path target = folder / given;
  std::error_code code;
  if (fs::exists(target, code)) {
    if (!fs::exists(target / "encoder.json", code)) {
      throw Error(ErrorKind::io,
                  target.string() + ": exists and is not a bundle; move it away");
    }
    if (!options.force) return describe(read_spec(target), "kept (--force replaces it)");
  }
  const std::string python = find_python(options);
  const Staging staging(folder);
  const fs::path bundle = staging.path() / given;
  run_exporter(options, python, given, bundle);
  check_bundle(read_spec(bundle));
  move_into_place(bundle, target, staging.path() / "replaced");
  return describe(read_spec(target), "exported and verified");
}

}  // namespace probe
