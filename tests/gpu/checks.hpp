// What needs a GPU, and asserts: each check gives its facts and whether all that it claims holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ropewalk::gpu_checks {

struct Outcome {
  std::string name;
  bool passed = true;
  std::vector<std::pair<std::string, std::string>> facts;  // name, JSON value

  void fact(const std::string& what, double number);
  void fact(const std::string& what, const std::string& text);
  // Keeps the fact, and fails unless it is so.
  void expect(bool holds, const std::string& what, double number);
};

Outcome all_sines();      // sinf, cosf and sincosf of all 2^32 floats against the model
Outcome all_powers();     // powf over the bases and exponents of tables against the model
Outcome all_kernels();    // every kernel against its host twin, bit for bit where the model says so
Outcome fast_bounds();    // __sinf, __cosf and sincospif against what is documented
Outcome early_or_late();  // bits and times of rotating K before or after its heads are expanded
Outcome paddings();       // bits, times and synchronisations of the three ways to pad a LoRA update

// Times that work() waits for the GPU, and copies to it, counted by CUPTI; -1 where CUPTI is not there.
struct Traffic {
  std::int64_t synchronisations = -1, copies = -1;
};
Traffic traffic_of(const std::function<void()>& work);

// Milliseconds of work() by CUDA events: the median of `repeats` runs after one to warm up.
double milliseconds(const std::function<void()>& work, int repeats = 21);

// f(first, last) over 0 .. count-1 in as many threads as there are processors.
void in_threads(std::int64_t count, const std::function<void(std::int64_t first, std::int64_t last)>& f);

}  // namespace ropewalk::gpu_checks
