// Untrusted files are first read in a process of their own. Private to probe/store.
#pragma once

#include <functional>
#include <string>

namespace probe {

// Runs `work` in a child process and drops what it made. HDF5 1.10 has faults that a damaged
// file can reach (endless loops, reads and writes out of bounds; tests/fuzz finds them within
// minutes); in the child they harm nothing, and what went well there may be done again here.
// Throws the Error that `work` threw; Error(input) "<where>: damaged: ..." if the child was
// ended by a signal or needed more than `cpu_seconds`; Error(io) if there can be no child.
void try_apart(const std::string& where, unsigned cpu_seconds, const std::function<void()>& work);

// Called by `work` where it comes upon more to read: so many seconds are added.
void allow_more_time(unsigned cpu_seconds);

}  // namespace probe
