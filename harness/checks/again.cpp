#include "harness/checks/again.hpp"

#include <algorithm>
#include <mutex>

#include "harness/devices/device.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kRowsOneByOne = 67;           // in blocks of one and of all of them
constexpr std::int64_t kElementsByThreads = 131072;  // rows * pairs: enough for LibTorch to share between threads

// LibTorch's number of threads belongs in part to the process, so only one case at a time may change it.
class TwoThreads {
 public:
  TwoThreads() : lock_(mutex()) { set_cpu_threads(2); }
  ~TwoThreads() { set_cpu_threads(1); }
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
};

Stages row_of(const Stages& stages, std::int64_t row) {
  Stages out;
  for (const auto& [name, tensor] : stages) out[name] = name == "inv_freq" ? tensor : tensor.rows(row, 1);
  return out;
}

}  // namespace

void compute_again(Subject& subject, std::int64_t rows, std::int64_t pairs,
                   const std::vector<InvariantsCheck*>& checks) {
  const auto add = [&](const Stages& once, const Stages& again, const char* how) {
    for (InvariantsCheck* check : checks) check->add_again(once, again, how);
  };
  const std::int64_t few = std::min(rows, kRowsOneByOne);
  const Stages once = subject.rows(0, few);
  for (std::int64_t r = 0; r < few; ++r) add(row_of(once, r), subject.rows(r, 1), "the place in the tensor");
  const std::int64_t many = std::min(rows, kElementsByThreads / pairs);
  const Stages one_thread = subject.rows(0, many);
  const TwoThreads two;
  add(one_thread, subject.rows(0, many), "the number of threads");
}

}  // namespace ropewalk
