// Times of what the field argues about, on device memory, with the bits compared beside them.
#include <algorithm>
#include <cstring>

#include "harness/devices/cuda_kernels/dispatch.hpp"
#include "harness/devices/cuda_kernels/launch.cuh"
#include "tests/gpu/checks.hpp"

namespace ropewalk::gpu_checks {

using namespace kernels;

double milliseconds(const std::function<void()>& work, int repeats) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  work();
  std::vector<float> times;
  for (int r = 0; r < repeats; ++r) {
    check(cudaEventRecord(start), "event");
    work();
    check(cudaEventRecord(stop), "event");
    check(cudaEventSynchronize(stop), "event");
    check(cudaEventElapsedTime(&times.emplace_back(), start, stop), "event");
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

namespace {

std::vector<float> ramp(std::int64_t count, float step) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 8191) * step - 1;
  return out;
}

bool same_bytes(const Buffer& a, const Buffer& b, std::int64_t bytes) {
  std::vector<char> x(static_cast<std::size_t>(bytes)), y(x.size());
  a.copy_to(x.data(), bytes);
  b.copy_to(y.data(), bytes);
  return x == y;
}

}  // namespace

// K of Llama 3 8B at 8192 positions: 8 key heads, 32 heads, 128 channels, bfloat16.
Outcome early_or_late() {
  Outcome out{"K rotated before or after its heads are expanded", true, {}};
  const std::int64_t seq = 8192, heads = 8, copies = 4, head_dim = 128, pairs = 64;
  const std::int64_t bytes = seq * heads * head_dim * 2;
  std::vector<Bfloat16> k(static_cast<std::size_t>(bytes / 2));
  const auto values = ramp(bytes / 2, 0x1p-12F);
  for (std::size_t i = 0; i < k.size(); ++i) store(values[i], k[i]);
  const auto table = ramp(seq * pairs, 0x1p-13F);
  const Buffer x(k.data(), bytes), cosine(table.data(), seq * pairs * 4), sine(table.data(), seq * pairs * 4);
  const Buffer early(bytes * copies), late(bytes * copies), scratch(bytes * copies);
  const auto rotate = [&](bool is_late, void* to) {
    const RotationArguments a{x.get(),  to,   cosine.as<float>(), sine.as<float>(), nullptr, nullptr, 1, seq, heads,
                              head_dim, pairs};
    with_heads({Pairing::half_split, Contraction::none, AngleSource::table, is_late}, Element::bfloat16, a, copies,
               scratch.get(), Launch{});
  };
  const double of_early = milliseconds([&] { rotate(false, early.get()); });
  const double of_late = milliseconds([&] { rotate(true, late.get()); });
  const Traffic traffic = traffic_of([&] { rotate(false, early.get()); });
  out.fact("early, ms", of_early);
  out.fact("late, ms", of_late);
  out.fact("early / late", of_early / of_late);
  out.fact("synchronisations", static_cast<double>(traffic.synchronisations));
  out.expect(same_bytes(early, late, bytes * copies), "equal bits", 1);
  // Early rotates a quarter of the elements and expands as many: it may not be slower beyond the scatter of the clock.
  out.expect(of_early <= 1.1 * of_late, "early is at most 1.1 times late", of_early / of_late);
  return out;
}

// Pythia-410m: embedding 1024, all of 3072 columns, q and v enabled; 512 tokens.
Outcome paddings() {
  Outcome out{"LoRA padding by a cached index, by slices, by a list copied at each call", true, {}};
  const std::int64_t rows = 512, in_columns = 2048, out_columns = 3072;
  std::vector<std::int64_t> index(static_cast<std::size_t>(in_columns));
  for (std::int64_t j = 0; j < in_columns; ++j) index[j] = j < 1024 ? j : j + 1024;
  const std::vector<std::int64_t> slices{0, 0, 1024, 1024, 2048, 1024};
  const auto values = ramp(rows * in_columns, 0x1p-12F);
  const Buffer x(values.data(), rows * in_columns * 4), cached(index.data(), in_columns * 8), runs(slices.data(), 48);
  const Buffer fresh(in_columns * 8);
  const std::int64_t bytes = rows * out_columns * 4;
  const Buffer by_index(bytes), by_slices(bytes), by_list(bytes);
  const auto pad = [&](PadMethod method, const Buffer& list, const Buffer& to) {
    if (method != PadMethod::slices) check(cudaMemsetAsync(to.get(), 0, bytes), "memset");
    const PadArguments a{x.get(),     to.get(), list.as<std::int64_t>(), runs.as<std::int64_t>(), rows, in_columns,
                         out_columns, 2};
    with_padding(method, Element::float32, a, Launch{});
  };
  const auto index_call = [&] { pad(PadMethod::index, cached, by_index); };
  const auto slices_call = [&] { pad(PadMethod::slices, cached, by_slices); };
  // As a framework makes a tensor on the device of a list on the host: a copy, and the host waits for it.
  const auto list_call = [&] {
    check(cudaMemcpyAsync(fresh.get(), index.data(), in_columns * 8, cudaMemcpyHostToDevice), "copy");
    check(cudaStreamSynchronize(nullptr), "synchronise");
    pad(PadMethod::list, fresh, by_list);
  };
  out.fact("index, ms", milliseconds(index_call));
  out.fact("slices, ms", milliseconds(slices_call));
  out.fact("list, ms", milliseconds(list_call));
  const Traffic of_index = traffic_of(index_call), of_slices = traffic_of(slices_call), of_list = traffic_of(list_call);
  const bool counted = of_index.synchronisations >= 0;
  out.fact("synchronisations counted", counted ? "by CUPTI" : "no: built without CUPTI, or it could not start");
  out.expect(!counted || of_index.synchronisations == 0, "index: synchronisations a call",
             static_cast<double>(of_index.synchronisations));
  out.expect(!counted || of_slices.synchronisations == 0, "slices: synchronisations a call",
             static_cast<double>(of_slices.synchronisations));
  out.expect(!counted || of_list.synchronisations >= 1, "list: synchronisations a call",
             static_cast<double>(of_list.synchronisations));
  out.expect(!counted || of_list.copies == 1, "list: copies to the device a call", static_cast<double>(of_list.copies));
  out.expect(same_bytes(by_index, by_slices, bytes), "slices: equal bits", 1);
  out.expect(same_bytes(by_index, by_list, bytes), "list: equal bits", 1);
  return out;
}

}  // namespace ropewalk::gpu_checks
