#include "harness/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ropewalk {
namespace {

constexpr int kBarWidth = 30;
constexpr double kBarInterval = 0.1, kLineInterval = 5;  // seconds

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

// What both styles say: the count, then the rate and the time left once there is something to measure them by.
std::string numbers(std::int64_t done, std::int64_t total, double seconds) {
  std::string text = fmt::format("{}/{} cells", done, total);
  if (done <= 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  text += fmt::format("  {:.{}f}/s", rate, rate < 10 ? 1 : 0);
  if (done < total) text += fmt::format("  {} left", duration(static_cast<double>(total - done) / rate));
  return text;
}

}  // namespace

std::string progress_bar(std::int64_t done, std::int64_t total, double seconds) {
  const std::int64_t filled = total <= 0 ? kBarWidth : std::clamp<std::int64_t>(done * kBarWidth / total, 0, kBarWidth);
  const auto full = static_cast<std::size_t>(filled);
  return "[" + std::string(full, '#') + std::string(kBarWidth - full, '.') + "] " + numbers(done, total, seconds);
}

Progress::Style Progress::style_for(std::FILE* out, bool quiet) {
  if (quiet) return Style::quiet;
  return ::isatty(::fileno(out)) != 0 ? Style::bar : Style::lines;
}

Progress::Progress(std::FILE* out, std::int64_t total, Style style, std::function<double()> now)
    : out_(out), total_(total), style_(style), now_(now ? std::move(now) : steady_seconds) {
  start_ = last_ = now_();
  if (style_ == Style::bar) show(progress_bar(0, total_, 0));
}

Progress::~Progress() { finish(); }

void Progress::advance(std::int64_t cells) {
  const std::scoped_lock lock(mutex_);
  done_ += cells;
  if (style_ == Style::quiet || finished_) return;
  const double time = now_();
  if (time - last_ < (style_ == Style::bar ? kBarInterval : kLineInterval)) return;
  last_ = time;
  show(style_ == Style::bar ? progress_bar(done_, total_, time - start_)
                            : numbers(done_, total_, time - start_) + "\n");
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;
  finished_ = true;
  if (style_ == Style::quiet) return;
  show(fmt::format("{} of {} cells in {:.1f} s\n", done_, total_, now_() - start_));
}

// A bar line starts at the left edge and erases what the one before left over (ECMA-48: CSI K).
void Progress::show(const std::string& line) {
  const std::string text = (style_ == Style::bar ? "\r\x1b[K" : "") + line;
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace ropewalk
