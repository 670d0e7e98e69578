#include "probe/cli/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "probe/core/error.h"

extern char** environ;

namespace probe {
namespace {

// Closed with its scope.
struct FileHandle {
  int number = -1;
  ~FileHandle() { reset(); }
  void reset() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

// INT, TERM and HUP wait for a signalfd instead of ending us, until the scope ends.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held_, number);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    events_.number = ::signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int events() const { return events_.number; }
  const sigset_t& before() const { return before_; }
  // The signal that came, or 0.
  int next() const {
    signalfd_siginfo info{};
    return ::read(events_.number, &info, sizeof info) == ssize_t{sizeof info}
               ? static_cast<int>(info.ssi_signo)
               : 0;
  }

 private:
  sigset_t held_{}, before_{};
  FileHandle events_;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

pid_t start(std::vector<std::string> words, const Environment& added, int err,
            const sigset_t& mask) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced |= variable.starts_with(name + "=");
    if (!replaced) variables.push_back(variable);
  }
  for (const auto& [name, value] : added) variables.push_back(name + "=" + value);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // which we ignore
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int code = ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    throw Error(ErrorKind::io, words[0] + ": cannot be run: " + std::strerror(code));
  }
  return child;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& words, const Environment& added,
                      const std::function<void(const std::string&)>& on_text) {
  const HeldSignals signals;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::io, std::string("pipe: ") + std::strerror(errno));
  }
  const FileHandle output{ends[0]};
  FileHandle input{ends[1]};
  const pid_t child = start(words, added, input.number, signals.before());
  input.reset();

  ChildResult result;
  std::string text;
  for (bool open = true; open;) {
    std::array<pollfd, 2> wait{pollfd{output.number, POLLIN, 0},
                               pollfd{signals.events(), POLLIN, 0}};
    if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) break;
    if (const int number = signals.next(); number != 0) {
      result.stopped = true;
      ::kill(child, number);
    }
    if ((wait[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(output.number, bytes.data(), bytes.size());
    open = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
    for (std::size_t end; (end = text.find_first_of("\n\r")) != std::string::npos;) {
      on_text(text.substr(0, end + 1));
      text.erase(0, end + 1);
    }
  }
  if (!text.empty()) on_text(text);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace probe
