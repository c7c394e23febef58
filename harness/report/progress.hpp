// How far a run is: a bar on a terminal, a line every few seconds elsewhere, nothing when quiet.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

namespace ropewalk {

// "[#####.....] 12/27 cells  3.4/s  5 s left"; seconds since the start.
std::string progress_bar(std::int64_t done, std::int64_t total, double seconds);

class Progress {
 public:
  enum class Style { quiet, lines, bar };
  // A bar if `out` is a terminal, else lines; quiet if asked for.
  static Style style_for(std::FILE* out, bool quiet);

  // `now`: seconds on a clock that only moves forward; default: since the program started. `out` must outlive this.
  Progress(std::FILE* out, std::int64_t total, Style style, std::function<double()> now = {});
  ~Progress();  // finish()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t cells = 1);  // from any thread
  // Clears the bar and says what was done in what time, once. "12 of 27 cells in 3.1 s".
  void finish();

 private:
  void show(const std::string& line);

  std::mutex mutex_;
  std::FILE* out_;
  std::int64_t total_, done_ = 0;
  Style style_;
  std::function<double()> now_;
  double start_ = 0, last_ = 0;
  bool finished_ = false;
};

}  // namespace ropewalk
