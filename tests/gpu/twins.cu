// Every kernel on the GPU against its host twin.
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "harness/devices/cuda_kernels/launch.cuh"
#include "harness/devices/cuda_kernels/run.hpp"
#include "tests/gpu/checks.hpp"

namespace ropewalk::gpu_checks {
namespace {

using namespace kernels;

struct MadeTable {
  std::vector<double> angle;  // room for either width
  std::vector<float> cosine, sine;
};

struct TableInputs {
  std::vector<float> positions, inv_freq;
};

TableInputs inputs() {
  TableInputs in;
  for (int p = 0; p < 4096; ++p) in.positions.push_back(static_cast<float>(p));
  for (const float p : {65537.F, 131071.F, 1048575.F, 16777215.F}) in.positions.push_back(p);
  for (int i = 0; i < 64; ++i) in.inv_freq.push_back(1.0F / std::pow(10000.0F, static_cast<float>(i) / 64.0F));
  return in;
}

template <class Where>
MadeTable table(const TableInputs& in, TableWay way, Where make) {
  const std::size_t count = in.positions.size() * in.inv_freq.size();
  MadeTable out{std::vector<double>(count), std::vector<float>(count), std::vector<float>(count)};
  make(way, {in.positions.data(), in.inv_freq.data(), out.angle.data(), out.cosine.data(), out.sine.data(),
             static_cast<std::int64_t>(in.positions.size()), static_cast<std::int64_t>(in.inv_freq.size())});
  return out;
}

template <class T>
std::int64_t differing(const std::vector<T>& a, const std::vector<T>& b) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) n += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
  return n;
}

double ulp(double exact) {
  const int exponent = std::max(std::ilogb(std::fabs(exact)), -126);
  return std::ldexp(1.0, exponent - 23);
}

std::vector<std::uint16_t> random_elements(Element element, std::size_t count) {
  std::vector<std::uint16_t> out(count * static_cast<std::size_t>(element == Element::float32 ? 2 : 1));
  std::mt19937 bits(7);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<std::int32_t>(bits())) * 0x1p-30F;
    if (element == Element::float32) {
      std::memcpy(&out[2 * i], &value, 4);
    } else if (element == Element::bfloat16) {
      Bfloat16 narrow;
      store(value, narrow);
      out[i] = narrow.bits;
    } else {
      Float16 narrow;
      store(value, narrow);
      out[i] = narrow.bits;
    }
  }
  return out;
}

void rotations(const TableInputs& in, const MadeTable& made, Outcome& out) {
  const std::int64_t batch = 2, seq = 64, heads = 2, copies = 3, head_dim = 160, pairs = 64;
  std::int64_t compared = 0, wrong = 0;
  for (const Element element : {Element::float32, Element::bfloat16, Element::float16})
    for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved})
      for (const Contraction contraction : {Contraction::none, Contraction::fma})
        for (const AngleSource source : {AngleSource::table, AngleSource::in_place})
          for (const bool late : {false, true}) {
            const auto x = random_elements(element, static_cast<std::size_t>(batch * seq * heads * head_dim));
            std::vector<std::uint16_t> a(x.size() * copies), b(a.size());
            const RotationPlan plan{pairing, contraction, source, late};
            RotationArguments arguments{x.data(),
                                        a.data(),
                                        made.cosine.data(),
                                        made.sine.data(),
                                        in.positions.data(),
                                        in.inv_freq.data(),
                                        batch,
                                        seq,
                                        heads,
                                        head_dim,
                                        pairs};
            gpu::rotate(plan, element, arguments, copies);
            arguments.out = b.data();
            host::rotate(plan, element, arguments, copies);
            compared += static_cast<std::int64_t>(a.size());
            wrong += differing(a, b);
          }
  out.fact("rotations: elements", static_cast<double>(compared));
  out.expect(wrong == 0, "rotations: elements with other bits than the host twin", static_cast<double>(wrong));
}

}  // namespace

Outcome all_kernels() {
  Outcome out{"kernels against their host twins", true, {}};
  const TableInputs in = inputs();
  MadeTable radians;
  for (const auto& [way, name] :
       {std::pair{TableWay::radians, "sincosf"}, {TableWay::phase, "phase"}, {TableWay::phase_fused, "phase-fma"}}) {
    const MadeTable a = table(in, way, gpu::table), b = table(in, way, host::table);
    if (way == TableWay::radians) radians = b;
    const std::int64_t wrong = differing(a.cosine, b.cosine) + differing(a.sine, b.sine) + differing(a.angle, b.angle);
    out.expect(wrong == 0, std::string("table-") + name + ": elements with other bits than the host twin",
               static_cast<double>(wrong));
  }
  rotations(in, radians, out);
  return out;
}

Outcome fast_bounds() {
  Outcome out{"approximations and sincospif within their documented bounds", true, {}};
  const TableInputs in = inputs();
  for (const TableWay way : {TableWay::turns, TableWay::turns_fused}) {
    const MadeTable a = table(in, way, gpu::table), b = table(in, way, host::table);
    double worst = 0;  // the stand-in is within 0.51 ulp of the exact value
    for (std::size_t i = 0; i < a.cosine.size(); ++i) {
      worst = std::max(worst, std::fabs(a.cosine[i] - b.cosine[i]) / ulp(b.cosine[i]));
      worst = std::max(worst, std::fabs(a.sine[i] - b.sine[i]) / ulp(b.sine[i]));
    }
    out.fact(way == TableWay::turns ? "sincospif: elements that are not the stand-in's bits"
                                    : "sincospif-fma: elements that are not the stand-in's bits",
             static_cast<double>(differing(a.cosine, b.cosine) + differing(a.sine, b.sine)));
    out.expect(worst <= 2.51, "largest distance from the stand-in, ulp (2 documented, 0.51 of the stand-in)", worst);
  }
  const MadeTable fast = table(in, TableWay::fast, gpu::table);
  const auto* angle = reinterpret_cast<const float*>(fast.angle.data());
  constexpr double pi = std::numbers::pi;
  const double upto[] = {pi, 2 * pi, 100 * pi, HUGE_VAL};
  const double sine_bound[] = {std::exp2(-21.41), std::exp2(-20.5), std::exp2(-14.7), HUGE_VAL};
  const double cosine_bound[] = {std::exp2(-21.19), std::exp2(-20.5), std::exp2(-14.7), HUGE_VAL};
  const char* where[] = {"[-pi, pi]", "[-2 pi, 2 pi]", "[-100 pi, 100 pi]", "beyond"};
  double sine[4] = {}, cosine[4] = {};
  for (std::size_t i = 0; i < fast.sine.size(); ++i) {
    int band = 0;
    while (std::fabs(angle[i]) > upto[band]) ++band;
    sine[band] = std::max(sine[band], std::fabs(fast.sine[i] - std::sin(static_cast<double>(angle[i]))));
    cosine[band] = std::max(cosine[band], std::fabs(fast.cosine[i] - std::cos(static_cast<double>(angle[i]))));
  }
  for (int band = 0; band < 4; ++band) {
    out.expect(sine[band] <= sine_bound[band], std::string("__sinf: largest error in ") + where[band], sine[band]);
    out.expect(cosine[band] <= cosine_bound[band], std::string("__cosf: largest error in ") + where[band],
               cosine[band]);
  }
  return out;
}

}  // namespace ropewalk::gpu_checks
