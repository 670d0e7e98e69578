#include "probe/core/late_library.h"

#include <dlfcn.h>

#include "probe/core/error.h"

namespace probe {

void* late_symbol(const std::string& library, const char* symbol, const std::string& what) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Error(ErrorKind::io, "cannot load " + what + ": " + first_line(::dlerror()));
  }
  void* found = ::dlsym(handle, symbol);
  if (found == nullptr) {
    throw Error(ErrorKind::io, library + ": not the one built with this program");
  }
  return found;
}

}  // namespace probe
