// Progress on stderr: a bar on a terminal, a plain line now and then otherwise, nothing
// with --quiet (BUGCASES 59).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace probe {

class Progress {
 public:
  // `what` in words, e.g. "embedding"; `total` steps.
  Progress(std::string what, std::int64_t total, bool quiet);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `worked`: false for steps that cost nothing (cached), which leave the rate alone.
  void advance(std::int64_t steps, bool worked = true);

 private:
  void draw_bar(double seconds);
  void print_line(double seconds);
  std::string rate_text(double seconds) const;

  std::string what_;
  std::int64_t total_, done_ = 0, worked_ = 0;
  bool silent_, terminal_;
  std::chrono::steady_clock::time_point start_, shown_;
  int tenth_ = 0;  // last tenth of the work that had a plain line
};

}  // namespace probe
