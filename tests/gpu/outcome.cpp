#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include "tests/gpu/checks.hpp"

namespace ropewalk::gpu_checks {

void Outcome::fact(const std::string& what, double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  facts.emplace_back(what, std::isfinite(number) ? text : "null");
}

void Outcome::fact(const std::string& what, const std::string& text) {
  std::string safe;
  for (const char c : text)
    if (c == '"' || c == '\\')
      (safe += '\\') += c;
    else if (static_cast<unsigned char>(c) >= 0x20)
      safe += c;
  facts.emplace_back(what, '"' + safe + '"');
}

void Outcome::expect(bool holds, const std::string& what, double number) {
  fact(what, number);
  passed = passed && holds;
}

void in_threads(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& f) {
  const std::int64_t threads = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  std::vector<std::thread> running;
  for (std::int64_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] { f(count * t / threads, count * (t + 1) / threads); });
  for (std::thread& thread : running) thread.join();
}

}  // namespace ropewalk::gpu_checks
