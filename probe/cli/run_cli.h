// The program as a function, so that tests can call it.
#pragma once

namespace probe {

// Runs one command. Results on stdout, everything else on stderr.
// Returns 0 done, 1 failed or some items failed, 2 usage.
int run_cli(int argc, const char* const* argv);

}  // namespace probe
