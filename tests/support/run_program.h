// Runs the built binary as a user does.
#pragma once

#include <string>
#include <vector>

namespace probe::test {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal if it was killed
  std::string out, err;
};

// Runs `probe` with these arguments. HOME and the cache point into a folder of the test's
// own (`home`), so that nothing outside is read or left behind.
ProgramResult run_probe(const std::vector<std::string>& arguments, const std::string& home);

}  // namespace probe::test
