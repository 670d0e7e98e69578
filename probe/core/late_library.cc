#include "probe/core/late_library.h"

#include <dlfcn.h>

#include "probe/core/error.h"

namespace probe {
namespace {

// RTLD_DEEPBIND binds a library to libc's malloc even where the rest of the program has another.
int flags_of(Names names) {
  int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Dl_info allocator, libc;
  const bool known = ::dladdr(::dlsym(RTLD_DEFAULT, "malloc"), &allocator) != 0 &&
                     ::dladdr(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) != 0;
  if (names == Names::its_own && known && allocator.dli_fbase == libc.dli_fbase) flags |= RTLD_DEEPBIND;
#endif
  return flags;
}

}  // namespace

void* late_symbol(const std::string& library, const char* symbol, const std::string& what, Names names) {
  void* handle = ::dlopen(library.c_str(), flags_of(names));
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
