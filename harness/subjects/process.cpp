#include "harness/subjects/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxAnswer = 1 << 20;
constexpr std::size_t kMaxStderr = 64 << 10;
constexpr std::size_t kExcerpt = 200;
constexpr double kGraceSeconds = 1;
constexpr double kMaxTimeout = 1e6;  // seconds; more would overflow the clock

std::atomic<const std::atomic<bool>*> stop_asking{nullptr};

bool stopped() {
  const std::atomic<bool>* stop = stop_asking;
  return stop != nullptr && *stop;
}

void close_end(int& end) {
  if (end >= 0) close(end);
  end = -1;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw SubjectError(fmt::format("no pipe: {}", std::strerror(errno)));
    read = above_stdio(ends[0]);
    write = above_stdio(ends[1]);
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // If we were started with stdout closed, a pipe may get its number, and what we print would go to the program.
  static int above_stdio(int end) {
    if (end > 2) return end;
    const int moved = fcntl(end, F_DUPFD_CLOEXEC, 3);
    close(end);
    return moved;
  }
};

// Reads what is there; false at the end of the stream.
bool read_some(int end, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t count = read(end, buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

// write() to a pipe that nobody reads raises SIGPIPE in this thread: it is held back and taken off again, so that the
// program's own handling of the signal stays as it is.
ssize_t write_without_signal(int end, const char* data, std::size_t size) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t count = write(end, data, size);
  const int reason = errno;
  if (count < 0 && reason == EPIPE && !was_pending) {
    const timespec no_wait{};
    sigtimedwait(&pipe_signal, nullptr, &no_wait);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return count;
}

// posix_spawn, because between fork and exec a program with several threads may do next to nothing.
pid_t spawn(const std::vector<std::string>& command, const std::string& folder, int in, int out, int err) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw SubjectError(fmt::format("cannot start {}: {}", quoted_excerpt(command[0]), std::strerror(error)));
  return pid;
}

}  // namespace

std::string quoted_excerpt(const std::string& text) {
  const std::string cut = text.size() <= kExcerpt ? text : text.substr(0, kExcerpt) + "...";
  return nlohmann::json(cut).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  if (command.empty() || command[0].empty()) throw SubjectError("cannot start a program: its command line is empty");
  const std::string where = folder.empty() ? "." : folder.string();
  if (std::error_code ignored; !std::filesystem::is_directory(where, ignored))
    throw SubjectError(fmt::format("cannot start {}: no folder {}", quoted_excerpt(command[0]), quoted_excerpt(where)));
  Pipe in, out, err;
  pid_ = spawn(command, where, in.read, out.write, err.write);
  std::swap(in_, in.write);
  std::swap(out_, out.read);
  std::swap(err_, err.read);
  for (const int end : {in_, out_, err_}) fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
}

Process::~Process() {
  close_end(in_);
  if (!broken_) wait_for_exit(kGraceSeconds);
  // The leader is reaped last: until then its number, which is the group's, cannot be given to others.
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // if it has moved to another group
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close_end(out_);
  close_end(err_);
}

void Process::stop_when(const std::atomic<bool>* stop) { stop_asking = stop; }

std::string Process::ask(const std::string& line, double timeout_s) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(std::llround(1e3 * std::min(timeout_s, kMaxTimeout)));
  const std::string message = line + "\n";
  std::size_t sent = 0;
  broken_ = true;  // unless an answer comes
  bool open = true;
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos && end <= kMaxAnswer) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      broken_ = false;
      return answer;
    }
    if (received_.size() > kMaxAnswer) throw SubjectError("its answer is a line of more than 1 MiB" + last_words());
    if (!open) throw SubjectError(how_it_ended() + last_words());

    if (stopped()) throw Stopped{};

    // A grandchild may hold the pipes open after the program itself has gone: look now and then.
    const bool gone = exited();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && !gone) throw SubjectError(fmt::format("no answer within {} s", timeout_s) + last_words());
    std::array<pollfd, 3> ends{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0},
                               pollfd{sent < message.size() ? in_ : -1, POLLOUT, 0}};
    const int ready = poll(ends.data(), ends.size(), gone ? 0 : static_cast<int>(std::clamp<long>(left, 1, 50)));
    if (ends[1].revents != 0) read_stderr();
    if (ends[0].revents != 0) {
      open = read_some(out_, received_);
    } else if (gone && ready >= 0) {
      open = false;
    }
    if (ends[2].revents != 0) {
      const ssize_t count = write_without_signal(in_, message.data() + sent, message.size() - sent);
      if (count > 0) sent += static_cast<std::size_t>(count);
      if (count < 0 && errno != EAGAIN && errno != EINTR) sent = message.size();  // it no longer reads; it may answer
    }
  }
}

std::string Process::last_words() const {
  const std::size_t end = stderr_tail_.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t before = stderr_tail_.find_last_of("\r\n", end);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return "; its last words on stderr: " + quoted_excerpt(stderr_tail_.substr(start, end + 1 - start));
}

bool Process::exited() const {
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid_ || (result != 0 && errno == ECHILD);  // ECHILD: whoever started us ignores SIGCHLD
}

void Process::wait_for_exit(double seconds) const {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!exited() && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::string Process::how_it_ended() {
  wait_for_exit(kGraceSeconds);
  read_stderr();
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_pid != pid_) return "it closed its standard output without an answer";
  if (info.si_code == CLD_EXITED) return fmt::format("it exited with code {} instead of an answer", info.si_status);
  const char* name = sigabbrev_np(info.si_status);
  return fmt::format("it was killed by SIG{} (signal {})", name != nullptr ? name : "?", info.si_status);
}

void Process::read_stderr() {
  if (err_ < 0) return;
  std::size_t before = 0;
  bool open = true;
  do {  // until it would wait
    before = stderr_tail_.size();
    open = read_some(err_, stderr_tail_);
    if (stderr_tail_.size() > 2 * kMaxStderr) break;
  } while (open && stderr_tail_.size() > before);
  if (!open) close_end(err_);
  if (stderr_tail_.size() > kMaxStderr) stderr_tail_.erase(0, stderr_tail_.size() - kMaxStderr);
}

}  // namespace ropewalk
