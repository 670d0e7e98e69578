#include "probe/cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace probe {
namespace {

constexpr double kBarSeconds = 0.1;    // between two drawings of the bar
constexpr double kLineSeconds = 30.0;  // between two plain lines

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

Progress::Progress(std::string what, std::int64_t total, bool quiet)
    : what_(std::move(what)),
      total_(total),
      silent_(quiet || total == 0),
      terminal_(stderr_is_terminal()),
      start_(std::chrono::steady_clock::now()),
      shown_(start_) {}

Progress::~Progress() {
  if (!silent_ && terminal_ && done_ > 0) {
    draw_bar(seconds_between(start_, std::chrono::steady_clock::now()));
    std::fputc('\n', stderr);
  }
}

void Progress::advance(std::int64_t steps, bool worked) {
  done_ += steps;
  worked_ += worked ? steps : 0;
  if (silent_) return;
  const auto now = std::chrono::steady_clock::now();
  const double since = seconds_between(shown_, now);
  const double seconds = seconds_between(start_, now);
  if (terminal_) {
    if (since < kBarSeconds && done_ < total_) return;
    draw_bar(seconds);
  } else {
    const int tenth = static_cast<int>(10 * done_ / total_);
    const bool due = since >= kLineSeconds || (done_ == total_ && tenth_ != 10);
    if (!due) return;
    tenth_ = tenth;
    print_line(seconds);
  }
  shown_ = now;
}

std::string Progress::rate_text(double seconds) const {
  if (seconds <= 0.0 || worked_ == 0) return "";
  const double rate = static_cast<double>(worked_) / seconds;
  std::string text = fmt::format(", {:.1f}/s", rate);
  if (done_ < total_) {
    const auto left = static_cast<std::int64_t>(static_cast<double>(total_ - done_) / rate);
    text += fmt::format(", {}:{:02} left", left / 60, left % 60);
  }
  return text;
}

void Progress::draw_bar(double seconds) {
  const std::string tail =
      fmt::format(" {}/{}{}", done_, total_, rate_text(seconds));
  const int room = terminal_columns() - 1 - static_cast<int>(what_.size() + tail.size()) - 3;
  std::string line = "\r" + what_;
  if (room >= 5) {
    const int width = std::min(room, 40);
    const auto full = static_cast<int>(width * done_ / total_);
    line += " [" + std::string(full, '#') + std::string(width - full, '.') + "]";
  }
  line += tail;
  const auto limit = static_cast<std::size_t>(std::max(1, terminal_columns()));
  if (line.size() > limit) line.resize(limit);
  std::fputs((line + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

void Progress::print_line(double seconds) {
  fmt::print(stderr, "{}: {}/{}{}\n", what_, done_, total_, rate_text(seconds));
}

}  // namespace probe
