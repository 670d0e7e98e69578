// What this machine has.
#pragma once

#include <string>

namespace probe {

// The value after "name:" in a file of such lines, as /proc has them; empty if it is not there.
std::string line_of(const char* file, const std::string& name);

// Bytes that can be had without swapping, and that the control groups of this process (of a Slurm
// job, of a container) allow at all; 0 if unknown.
double available_memory();

}  // namespace probe
