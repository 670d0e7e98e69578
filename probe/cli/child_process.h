// Runs another program by an argument vector; no shell is ever involved.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace probe {

struct ChildResult {
  int exit_code = 0;     // 128 + signal if it was killed
  bool stopped = false;  // by a signal that we were sent meanwhile (INT, TERM, HUP)
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs words[0] (searched in PATH unless it holds a '/') and waits. It reads nothing from
// stdin, and what it writes to stdout is dropped. What it writes to stderr goes to
// `on_text` in pieces that end at '\n' or '\r' (the last one may not). `added` goes on top
// of our environment. INT, TERM and HUP that reach us meanwhile are passed on to it.
// Throws Error(io) if the program cannot be started.
ChildResult run_child(const std::vector<std::string>& words, const Environment& added,
                      const std::function<void(const std::string&)>& on_text);

}  // namespace probe
