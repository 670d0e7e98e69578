// An append-only file of vectors by key, which survives being killed at any moment.
//
// Used twice: as the part file of a running `embed`, and as the cache that lets
// `zeroshot` and `match` reuse vectors. Layout: a line of JSON (identity and width), then
// records: key (32 bytes), `width` floats, CRC-32 (zlib) of both. Opening reads all
// records and cuts the file at the first that is torn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace probe {

class FeatureLog {
 public:
  // Opens or creates. The file is locked for this process.
  //   identity: whatever fixed the vectors; a log of another identity is never mixed in.
  //   width: floats a record.
  //   on_wait: called once if another process holds the lock; then we wait for it. If it is
  //     empty, that is an error.
  //   restart: begin anew, once the lock is ours.
  // Throws Error(io) if another process holds the lock or the file cannot be written,
  // Error(input) if the file is a log of another identity, or no log at all.
  FeatureLog(const std::filesystem::path& path, const std::string& identity, std::size_t width,
             const std::function<void()>& on_wait, bool restart);
  ~FeatureLog();
  FeatureLog(const FeatureLog&) = delete;
  FeatureLog& operator=(const FeatureLog&) = delete;

  std::size_t size() const;            // records
  bool contains(const std::string& key_hex) const;

  // Copies the vector of `key_hex` (64 hex digits) to `out`, which has `width` floats.
  // False if there is none.
  bool find(const std::string& key_hex, std::span<float> out) const;

  // Appends one record. Throws Error(io): path, reason, how many records are safe.
  void append(const std::string& key_hex, std::span<const float> vector);

  // Forces the records to disk.
  void flush();

  // Deletes the file; the object must not be used afterwards.
  void remove();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a log holds, seen from outside; its owner is not disturbed.
struct LogSummary {
  std::string identity;
  std::int64_t records = 0;  // by the file's length
  bool in_use = false;       // a process of this machine has locked it
};

// Nothing if the file is not a log, or cannot be read.
std::optional<LogSummary> read_log_summary(const std::filesystem::path& path);

}  // namespace probe
