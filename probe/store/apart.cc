#include "probe/store/apart.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "probe/core/error.h"

namespace probe {
namespace {

constexpr int kDone = 0, kThrew = 1, kBroke = 2;  // how the child ends

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int fd) {
  std::string text;
  char piece[4096];
  while (true) {
    const ssize_t size = ::read(fd, piece, sizeof(piece));
    if (size == 0 || (size < 0 && errno != EINTR)) return text;
    if (size > 0) text.append(piece, static_cast<std::size_t>(size));
  }
}

// The child leaves by _exit: nothing of ours is flushed or destroyed twice.
[[noreturn]] void run_in_child(int out, unsigned cpu_seconds, const std::function<void()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  rlimit cpu{};
  ::getrlimit(RLIMIT_CPU, &cpu);
  cpu.rlim_cur = std::min<rlim_t>(cpu_seconds, cpu.rlim_max);  // raised by allow_more_time
  ::setrlimit(RLIMIT_CPU, &cpu);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDERR_FILENO);  // the C library's last words
  try {
    work();
    ::_exit(kDone);
  } catch (const Error& error) {
    write_all(out, std::to_string(static_cast<int>(error.kind())) + error.what());
    ::_exit(kThrew);
  } catch (...) {
    ::_exit(kBroke);
  }
}

}  // namespace

void allow_more_time(unsigned cpu_seconds) {
  rlimit cpu{};
  if (::getrlimit(RLIMIT_CPU, &cpu) != 0 || cpu.rlim_cur == RLIM_INFINITY) return;
  cpu.rlim_cur = std::min<rlim_t>(cpu.rlim_cur + cpu_seconds, cpu.rlim_max);
  ::setrlimit(RLIMIT_CPU, &cpu);
}

void try_apart(const std::string& where, unsigned cpu_seconds, const std::function<void()>& work) {
  int ends[2];
  const bool piped = ::pipe2(ends, O_CLOEXEC) == 0;
  const pid_t child = piped ? ::fork() : -1;
  if (child < 0) {
    const int code = errno;
    if (piped) {
      ::close(ends[0]);
      ::close(ends[1]);
    }
    throw Error(ErrorKind::io, where + ": cannot start a process to read it: " + std::strerror(code));
  }
  if (child == 0) run_in_child(ends[1], cpu_seconds, work);
  ::close(ends[1]);
  const std::string told = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kThrew && !told.empty()) {
    throw Error(static_cast<ErrorKind>(told[0] - '0'), told.substr(1));
  }
  const bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  throw Error(ErrorKind::input,
              where + (endless ? ": damaged: reading it did not come to an end"
                               : ": damaged: the HDF5 library broke down reading it"));
}

}  // namespace probe
