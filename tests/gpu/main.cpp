// Runs every check that needs a GPU: gpu_checks [REPORT.json]. Exit 0: all hold; 1: some do not; 77: no GPU.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>

#include "harness/devices/cuda_kernels/run.hpp"
#include "tests/gpu/checks.hpp"

namespace {

using namespace ropewalk::gpu_checks;

std::string json_of(const Outcome& outcome, double seconds) {
  std::string text = "    {\"name\": \"" + outcome.name + "\", \"passed\": " + (outcome.passed ? "true" : "false") +
                     ", \"seconds\": " + std::to_string(seconds) + ", \"facts\": {";
  for (std::size_t i = 0; i < outcome.facts.size(); ++i)
    text += (i == 0 ? "\n      \"" : ",\n      \"") + outcome.facts[i].first + "\": " + outcome.facts[i].second;
  return text + "}}";
}

}  // namespace

int main(int argc, char** argv) {
  namespace gpu = ropewalk::kernels::gpu;
  if (const std::string missing = gpu::missing(); !missing.empty()) {
    std::printf("no GPU: %s (%s); nothing was run\n", missing.c_str(), gpu::versions().c_str());
    return 77;
  }
  std::printf("%s\n", gpu::versions().c_str());
  std::string checks;
  bool all = true;
  for (Outcome (*const check)() : {all_kernels, fast_bounds, all_powers, early_or_late, paddings, all_sines}) {
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome;
    try {
      outcome = check();
    } catch (const std::exception& e) {
      outcome.name = "a check that broke";
      outcome.passed = false;
      outcome.fact("error", std::string(e.what()));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    all = all && outcome.passed;
    std::printf("%s  %s (%.1f s)\n", outcome.passed ? "ok    " : "FAILED", outcome.name.c_str(), seconds);
    for (const auto& [what, value] : outcome.facts) std::printf("          %s: %s\n", what.c_str(), value.c_str());
    std::fflush(stdout);
    checks += (checks.empty() ? "" : ",\n") + json_of(outcome, seconds);
  }
  if (argc > 1) {
    Outcome device;
    device.fact("device", gpu::versions());
    std::ofstream(argv[1]) << "{\n  \"schema_version\": 1,\n  \"device\": " << device.facts[0].second
                           << ",\n  \"passed\": " << (all ? "true" : "false") << ",\n  \"checks\": [\n"
                           << checks << "\n  ]\n}\n";
  }
  return all ? 0 : 1;
}
