// A child process that is asked one line at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace ropewalk {

// Any text of others on one line: in double quotes, escaped, valid UTF-8, cut to a readable length.
std::string quoted_excerpt(const std::string& text);

// A question was given up because the run is to end. No std::exception: nothing on the way takes it for a verdict.
struct Stopped {};

// Not for more than one thread at a time; objects in different threads do not disturb each other. The child leads its
// own process group, which is killed as a whole at the end.
class Process {
 public:
  // Starts it; a command without a slash is looked up in PATH. Throws SubjectError when it cannot be started.
  Process(const std::vector<std::string>& command, const std::filesystem::path& folder);
  // Closes its standard input, waits for up to a second for it to leave by itself, then kills the group.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Sends a line and returns the line that answers it, both without the newline. Throws SubjectError when no answer
  // comes in time, is longer than 1 MiB, or the process ends or closes its output instead. Then the object is of no
  // more use: destroy it. Throws Stopped instead once what stop_when() was given is true.
  std::string ask(const std::string& line, double timeout_s);
  // Of every process; null: of none.
  static void stop_when(const std::atomic<bool>* stop);
  // "; its last words on stderr: ..." or nothing.
  std::string last_words() const;

 private:
  bool exited() const;
  void wait_for_exit(double seconds) const;
  std::string how_it_ended();
  void read_stderr();

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;  // our ends of its stdin, stdout, stderr
  std::string received_;               // of its stdout, not yet returned
  std::string stderr_tail_;            // the last 64 KiB
  bool broken_ = false;                // no reason left to wait for it
};

}  // namespace ropewalk
