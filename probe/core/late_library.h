// Libraries of our own that are opened only when something of theirs is needed, since what they
// bring with them takes longer to load than most commands run.
#pragma once

#include <string>

namespace probe {

// Whose functions a library and those it brings call where several have a name.
enum class Names {
  of_the_program,  // the loader's usual order: what the program is linked with comes first
  its_own,         // unless malloc is not libc's (preloaded, or a sanitizer's): memory goes to and fro
};

// The address of `symbol` in `library`, which stays open for the life of the process.
// Throws Error(io) "cannot load <what>: ...", or that the library is not the one built with this
// program.
void* late_symbol(const std::string& library, const char* symbol, const std::string& what,
                  Names names = Names::of_the_program);

}  // namespace probe
