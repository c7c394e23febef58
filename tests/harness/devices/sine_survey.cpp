#include "tests/harness/devices/sine_survey.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <thread>
#include <tuple>

#include "tests/harness/devices/exact_math.hpp"

namespace ropewalk::cuda_math {
namespace {

constexpr std::uint32_t magnitudes = 0x7F800000;  // bit patterns below infinity
constexpr std::size_t block_size = 4096;

// glibc's double sine and cosine (below 0.55 ulp of double) stand for the exact values. A nearest float is taken from
// them only when they are further than this from the midpoint of two floats, in ulp of float, which is 2^9 ulp of
// double; else MPFR decides. No other argument than 0 has a sine or cosine that is such a midpoint.
constexpr double doubtful = 0x1p-20;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

void note(Survey& into, Function function, float x, float got, double exact) {
  ++into.compared;
  into.fingerprint += bits_of(got) * (2 * std::uint64_t{bits_of(x)} + 1);
  const int ulp = ulp_exponent(exact);
  const double scaled = std::fabs(exact) * power_of_two(-ulp);  // below 2^24, exact
  const auto fraction = scaled - static_cast<double>(static_cast<std::int64_t>(scaled));
  auto nearest = static_cast<float>(exact);
  if (std::fabs(fraction - 0.5) < doubtful) nearest = correctly_rounded(function, x);
  if (bits_of(got) == bits_of(nearest)) return;  // an error of at most 1/2

  ++into.not_correctly_rounded;
  if (steps_between(got, nearest) >= 2) {
    ++into.two_or_more_away;
    if (into.far_arguments.size() < 16) into.far_arguments.push_back(x);
  }
  const double error = std::fabs(got - exact) * power_of_two(-ulp);
  if (error > into.largest_error || (error == into.largest_error && bits_of(x) < bits_of(into.at))) {
    into.largest_error = error;
    into.at = x;
    into.result = got;
  }
}

void merge(Survey& into, const Survey& part) {
  into.compared += part.compared;
  into.not_correctly_rounded += part.not_correctly_rounded;
  into.two_or_more_away += part.two_or_more_away;
  into.fingerprint += part.fingerprint;
  into.far_arguments.insert(into.far_arguments.end(), part.far_arguments.begin(), part.far_arguments.end());
  const auto rank = [](const Survey& s) { return std::tuple(-s.largest_error, bits_of(s.at)); };
  if (rank(part) < rank(into)) {
    into.largest_error = part.largest_error;
    into.at = part.at;
    into.result = part.result;
  }
}

// Magnitudes first, first + stride, ...: count of them, with both signs.
void survey_block(const ArrayFunction& sin, const ArrayFunction& cos, std::uint64_t first, std::uint32_t stride,
                  std::size_t count, Surveys& into) {
  std::array<float, 2 * block_size> x;
  std::array<float, 2 * block_size> sines;
  std::array<float, 2 * block_size> cosines;
  for (std::size_t i = 0; i < count; ++i) {
    x[2 * i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i * stride));
    x[2 * i + 1] = -x[2 * i];
  }
  sin({x.data(), 2 * count}, {sines.data(), 2 * count});
  cos({x.data(), 2 * count}, {cosines.data(), 2 * count});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t plus = 2 * i;
    const std::size_t minus = plus + 1;
    double exact_sine = 0;
    double exact_cosine = 0;
    ::sincos(x[plus], &exact_sine, &exact_cosine);
    note(into.sin, Function::sin, x[plus], sines[plus], exact_sine);
    note(into.sin, Function::sin, x[minus], sines[minus], -exact_sine);
    note(into.cos, Function::cos, x[plus], cosines[plus], exact_cosine);
    note(into.cos, Function::cos, x[minus], cosines[minus], exact_cosine);
  }
}

}  // namespace

Surveys survey(const ArrayFunction& sin, const ArrayFunction& cos, std::uint32_t stride, unsigned threads) {
  const std::uint64_t samples = (std::uint64_t{magnitudes} + stride - 1) / stride;
  std::atomic<std::uint64_t> next = 0;
  std::vector<Surveys> parts(threads);
  {
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (Surveys& part : parts) {
      workers.emplace_back([&] {
        Surveys mine;  // its own cache lines
        for (std::uint64_t start = next.fetch_add(block_size); start < samples; start = next.fetch_add(block_size)) {
          const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block_size, samples - start));
          survey_block(sin, cos, start * stride, stride, count, mine);
        }
        part = std::move(mine);
      });
    }
  }
  Surveys total;
  for (const Surveys& part : parts) {
    merge(total.sin, part.sin);
    merge(total.cos, part.cos);
  }
  const auto by_size = [](float a, float b) {
    return std::tuple(std::fabs(a), std::signbit(a)) < std::tuple(std::fabs(b), std::signbit(b));
  };
  std::ranges::sort(total.sin.far_arguments, by_size);
  std::ranges::sort(total.cos.far_arguments, by_size);
  return total;
}

}  // namespace ropewalk::cuda_math
