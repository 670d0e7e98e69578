// RAII around HDF5's C API. Private to probe/store.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace probe {

// Owns one HDF5 identifier and closes it with the function given.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  // Throws Error(io) "<what>: <HDF5's reason>" if `id` is negative.
  Hdf5Handle(hid_t id, Closer closer, const std::string& what);
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) closer_(id_);
  }

  hid_t id() const { return id_; }

  // Closes now and reports: a full disk often shows up only here. Throws Error(io).
  void close(const std::string& what);

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

// HDF5 prints its error stack to stderr unless told not to; ours carries one line.
void silence_hdf5();

// The innermost reason on HDF5's error stack, e.g. "file write failed: ... errno = 28".
std::string hdf5_reason();

// Throws Error(io) "<what>: <reason>" if `status` is negative.
void check_hdf5(herr_t status, const std::string& what);

}  // namespace probe
