#include "probe/store/feature_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "probe/core/error.h"

namespace probe {
namespace {

using Key = std::array<std::uint8_t, 32>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t hash;  // the keys are SHA-256: any eight bytes are uniform
    std::memcpy(&hash, key.data(), sizeof(hash));
    return hash;
  }
};

// Key, floats, checksum.
std::size_t bytes_of_record(std::size_t width) { return 32 + 4 * width + 4; }

Key parse_key(const std::string& hex) {
  const auto digit = [&](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw Error(ErrorKind::input, "feature log: expected a key of 64 hex digits");
  };
  if (hex.size() != 64) {
    throw Error(ErrorKind::input, "feature log: expected a key of 64 hex digits");
  }
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<std::uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  }
  return key;
}

// Asking for the lock itself could make its owner-to-be fail.
bool is_locked(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    unsigned major = 0, minor = 0;
    unsigned long inode = 0;
    const bool read = std::sscanf(line.c_str(), "%*s %*s %*s WRITE %*s %x:%x:%lu", &major, &minor,
                                  &inode) == 3;
    if (read && inode == file.st_ino && major == ::major(file.st_dev) &&
        minor == ::minor(file.st_dev)) {
      return true;
    }
  }
  return false;
}

}  // namespace

struct FeatureLog::State {
  std::filesystem::path path;
  int fd = -1;
  std::size_t width = 0;
  off_t header_bytes = 0;
  std::unordered_map<Key, std::size_t, KeyHash> rows;
  std::size_t count = 0;  // records in the file
  std::vector<std::uint8_t> record;

  ~State() {
    if (fd >= 0) ::close(fd);
  }

  std::size_t record_bytes() const { return bytes_of_record(width); }

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorKind::io, path.string() + ": cannot " + what + ": " +
                                   std::strerror(errno) + " (" + std::to_string(count) +
                                   " rows are safely written)");
  }

  void write_at_end(const std::uint8_t* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t written = ::write(fd, data, bytes);
      if (written < 0) {
        if (errno == EINTR) continue;
        fail("write");
      }
      data += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  bool read_at(off_t offset, std::uint8_t* data, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t got = ::pread(fd, data, bytes, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      data += got;
      offset += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  void lock(const std::function<void()>& on_wait) {
    bool waiting = false;
    while (::flock(fd, LOCK_EX | (waiting ? 0 : LOCK_NB)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK && on_wait) {
        on_wait();
        waiting = true;
        continue;
      }
      if (errno == EWOULDBLOCK) {
        throw Error(ErrorKind::io, path.string() +
                                       ": another process has it open; wait for it to end "
                                       "or choose another output");
      }
      fail("lock");
    }
  }

  // The header line, or "" if the file is empty or was torn while `header` was written.
  // Throws Error(input) if the file is something else: it is not ours to overwrite.
  std::string read_header(const std::string& header) {
    const std::string found = first_line_of_file();
    const bool torn = header_bytes == 0 && header.starts_with(found);
    const bool ours = header_bytes > 0 && found.starts_with("{\"format\":\"probe-feature-log\"");
    if (torn) return "";
    if (!ours) {
      throw Error(ErrorKind::input, path.string() +
                                        ": is in the way: expected a log of unfinished vectors, "
                                        "got another file; move it or choose another output");
    }
    return found;
  }

  // Sets header_bytes if the first line is whole.
  std::string first_line_of_file() {
    std::string start(1 << 16, '\0');
    const ssize_t got = ::pread(fd, start.data(), start.size(), 0);
    if (got < 0) fail("read");
    start.resize(static_cast<std::size_t>(got));
    const std::size_t end = start.find('\n');
    if (end != std::string::npos) header_bytes = static_cast<off_t>(end) + 1;
    return start.substr(0, end);
  }

  void scan() {
    record.resize(record_bytes());
    off_t offset = header_bytes;
    while (read_at(offset, record.data(), record.size())) {
      std::uint32_t stored;
      std::memcpy(&stored, record.data() + record.size() - 4, 4);
      if (stored != ::crc32(0, record.data(), static_cast<uInt>(record.size() - 4))) break;
      Key key;
      std::memcpy(key.data(), record.data(), key.size());
      rows.emplace(key, count);
      ++count;
      offset += static_cast<off_t>(record.size());
    }
    if (::ftruncate(fd, offset) != 0) fail("cut the torn end");
    if (::lseek(fd, offset, SEEK_SET) < 0) fail("seek");
  }
};

FeatureLog::FeatureLog(const std::filesystem::path& path, const std::string& identity,
                       std::size_t width, const std::function<void()>& on_wait, bool restart)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.path = path;
  state.width = width;
  while (true) {
    state.fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (state.fd < 0) state.fail("open for writing");
    state.lock(on_wait);
    // The former owner may have deleted the file while we waited for its lock.
    struct stat ours {}, named {};
    if (::fstat(state.fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
        ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
      break;
    }
    ::close(state.fd);
  }
  const std::string header =
      nlohmann::json{{"format", "probe-feature-log"}, {"version", 1}, {"width", width},
                     {"identity", identity}}
          .dump();
  const std::string found = state.read_header(header);
  if (found.empty() || restart) {
    if (::ftruncate(state.fd, 0) != 0 || ::lseek(state.fd, 0, SEEK_SET) < 0) state.fail("write");
    const std::string line = header + "\n";
    state.write_at_end(reinterpret_cast<const std::uint8_t*>(line.data()), line.size());
    state.header_bytes = static_cast<off_t>(line.size());
    state.record.resize(state.record_bytes());
  } else if (found != header) {
    throw Error(ErrorKind::input,
                path.string() +
                    ": holds vectors of another encoder, bundle or option; delete it (or use "
                    "--restart) to begin anew");
  } else {
    state.scan();
  }
}

FeatureLog::~FeatureLog() = default;

std::size_t FeatureLog::size() const { return state_->rows.size(); }

bool FeatureLog::contains(const std::string& key_hex) const {
  return state_->rows.contains(parse_key(key_hex));
}

bool FeatureLog::find(const std::string& key_hex, std::span<float> out) const {
  const State& state = *state_;
  const auto it = state.rows.find(parse_key(key_hex));
  if (it == state.rows.end()) return false;
  const off_t offset = state.header_bytes +
                       static_cast<off_t>(it->second * state.record_bytes() + 32);
  if (!state.read_at(offset, reinterpret_cast<std::uint8_t*>(out.data()), 4 * state.width)) {
    state.fail("read");
  }
  return true;
}

void FeatureLog::append(const std::string& key_hex, std::span<const float> vector) {
  State& state = *state_;
  const Key key = parse_key(key_hex);
  if (state.rows.contains(key)) return;
  std::uint8_t* record = state.record.data();
  std::memcpy(record, key.data(), 32);
  std::memcpy(record + 32, vector.data(), 4 * state.width);
  const auto checksum =
      static_cast<std::uint32_t>(::crc32(0, record, static_cast<uInt>(32 + 4 * state.width)));
  std::memcpy(record + 32 + 4 * state.width, &checksum, 4);
  state.write_at_end(record, state.record.size());
  state.rows.emplace(key, state.count);
  ++state.count;
}

void FeatureLog::flush() {
  if (::fsync(state_->fd) != 0 && errno != EINVAL) state_->fail("flush");
}

void FeatureLog::remove() {
  // Another process may have put a file of its own under the name.
  struct stat ours {}, named {};
  if (::fstat(state_->fd, &ours) == 0 && ::stat(state_->path.c_str(), &named) == 0 &&
      ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
    ::unlink(state_->path.c_str());
  }
  state_.reset();
}

std::optional<LogSummary> read_log_summary(const std::filesystem::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string line(1 << 16, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(in.gcount()));
  const std::size_t end = line.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const auto header = nlohmann::json::parse(line.substr(0, end), nullptr, false);
  LogSummary summary;
  std::size_t width = 0;
  try {
    if (header.at("format") != "probe-feature-log") return std::nullopt;
    header.at("identity").get_to(summary.identity);
    header.at("width").get_to(width);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  if (width > std::size_t{1} << 40) return std::nullopt;
  const std::size_t content = static_cast<std::size_t>(file.st_size) - end - 1;
  summary.records = static_cast<std::int64_t>(content / bytes_of_record(width));
  summary.in_use = is_locked(file);
  return summary;
}

}  // namespace probe
