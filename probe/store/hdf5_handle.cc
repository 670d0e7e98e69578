#include "probe/store/hdf5_handle.h"

#include <cerrno>
#include <cstring>

#include "probe/core/error.h"

namespace probe {

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string hdf5_reason() {
  const int system_error = errno;
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
        auto* text = static_cast<std::string*>(out);
        if (text->empty() && entry->desc != nullptr) *text = entry->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG ||
      system_error == EACCES || system_error == EROFS) {
    return std::strerror(system_error);
  }
  return reason.empty() ? "unknown HDF5 error" : first_line(reason);
}

Hdf5Handle::Hdf5Handle(hid_t id, Closer closer, const std::string& what)
    : id_(id), closer_(closer) {
  if (id < 0) throw Error(ErrorKind::io, what + ": " + hdf5_reason());
}

void Hdf5Handle::close(const std::string& what) {
  if (id_ < 0) return;
  check_hdf5(closer_(std::exchange(id_, H5I_INVALID_HID)), what);
}

void check_hdf5(herr_t status, const std::string& what) {
  if (status < 0) throw Error(ErrorKind::io, what + ": " + hdf5_reason());
}

}  // namespace probe
