#include "harness/cli/environment.hpp"

#include <gnu/libc-version.h>

#include <chrono>
#include <fstream>

#include "harness/bad_input.hpp"
#include "harness/devices/device.hpp"

namespace ropewalk {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string instruction_set() {
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  return "sse2";
}

}  // namespace

Environment this_environment(int threads, std::uint64_t seed) {
  Environment e;
  e.cpu = processor();
  e.isa = instruction_set();
  e.torch = torch_version();
  if (const auto cuda = make_device("cuda"); cuda->missing().empty()) e.cuda = cuda->versions();
  if (const auto gpu = make_device("cuda-kernels"); gpu->missing().empty() && !gpu->emulated()) e.gpu = gpu->versions();
  e.libm = std::string("glibc ") + gnu_get_libc_version();
  e.git = ROPEWALK_GIT;
  e.threads = threads;
  e.seed = seed;
  return e;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw BadInput(path.string(), "", "", "a file that can be written");
}

}  // namespace ropewalk
