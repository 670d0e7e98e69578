#include "probe/core/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "probe/core/error.h"

namespace probe {
namespace {

[[noreturn]] void throw_io(const std::filesystem::path& path, const char* what, int code) {
  throw Error(ErrorKind::io, path.string() + ": cannot " + what + ": " + std::strerror(code));
}

void write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io(path, "write", errno);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0 && errno != EINVAL) throw_io(path, "write", errno);
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw_io(path, "open", errno);
  if (!S_ISREG(info.st_mode)) {
    throw Error(ErrorKind::io, path.string() + ": expected a regular file");
  }
  if (static_cast<std::size_t>(info.st_size) > max_bytes) {
    throw Error(ErrorKind::input, path.string() + ": expected at most " +
                                      std::to_string(max_bytes) + " bytes, got " +
                                      std::to_string(info.st_size));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_io(path, "open", errno);
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  file.read(content.data(), info.st_size);
  if (file.bad()) throw_io(path, "read", errno);
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path aside =
      path.string() + ".partial-" + std::to_string(::getpid());
  const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw_io(path, "write", errno);
  try {
    write_all(fd, content, path);
  } catch (...) {
    ::close(fd);
    ::unlink(aside.c_str());
    throw;
  }
  if (::close(fd) != 0) {
    const int code = errno;
    ::unlink(aside.c_str());
    throw_io(path, "write", code);
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(aside.c_str());
    throw_io(path, "write", code);
  }
}

}  // namespace probe
