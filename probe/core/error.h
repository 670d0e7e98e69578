// The one exception type of probe.
//
// Rule (DESIGN.md section 4): exit 0 done, 1 failed or some items failed, 2 usage.
// A message is one line: where, what was required, what came.
#pragma once

#include <stdexcept>
#include <string>

namespace probe {

enum class ErrorKind {
  usage,  // wrong options or arguments; exit 2
  input,  // the user's data are wrong; exit 1
  model,  // an encoder bundle is wrong or fails; exit 1
  io,     // the system refused a read or a write; exit 1
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// First line of a third party's message, cut to 300 bytes: LibTorch's run to
// 3,000 characters and would bury the path that stands before them.
std::string first_line(const std::string& text);

}  // namespace probe
