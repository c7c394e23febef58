#include "reference/lora_exact.hpp"

#include <cmath>
#include <stdexcept>

#include "reference/fallback.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

// Sums of products in one precision that notice when it was not enough.
struct Arithmetic {
  int bits;
  bool exact = true;

  Real zero() const { return real(bits); }
  void add(Real& sum, double v) { exact &= mpfr_add_d(raw(sum), raw(sum), v, MPFR_RNDN) == 0; }
  void add_product(Real& sum, const Real& a, double b) {
    const Real factor = real(b, 53);
    exact &= mpfr_fma(raw(sum), raw(a), raw(factor), raw(sum), MPFR_RNDN) == 0;
  }
  void add_product(Real& sum, double a, double b) { add_product(sum, real(a, 53), b); }
};

// The whole number whose square r is, or 0.
std::int64_t root_of(std::int64_t r) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(r)));
  while (root * root > r) --root;
  while ((root + 1) * (root + 1) <= r) ++root;
  return root * root == r ? root : 0;
}

// gamma = alpha / divisor; 0 if the divisor is irrational.
std::int64_t divisor_of(const LoraScale& s) {
  return s.kind == LoraScale::plain ? 1 : s.kind == LoraScale::over_r ? s.r : root_of(s.r);
}

// numerator / divisor, cut to 256 bits and rounded to odd: whatever is rounded to fewer than 255 bits next comes out as
// if rounded at once, and comparisons with doubles come out right (Boldo and Melquiond 2008).
Real odd_quotient(const Real& numerator, std::int64_t divisor, bool& exact) {
  Real q = real(256);
  exact = mpfr_div_si(raw(q), raw(numerator), divisor, MPFR_RNDZ) == 0;
  const bool even = mpfr_min_prec(raw(q)) < 256;
  if (!exact && even) mpfr_sgn(raw(q)) > 0 ? mpfr_nextabove(raw(q)) : mpfr_nextbelow(raw(q));
  return q;
}

ExactRounding rounded(Format format, const Real& value, bool exact) {
  const double head = mpfr_get_d(raw(value), MPFR_RNDN);
  if (!std::isfinite(head)) return {round_head_tail(head, 0, format), false};
  Real rest = real(320);  // exact for 256 bits; the sign is right for any number of them
  mpfr_sub_d(raw(rest), raw(value), head, MPFR_RNDN);
  const double tail = mpfr_get_d(raw(rest), MPFR_RNDN);
  const double side = tail != 0 ? tail : std::copysign(0x1p-1074, mpfr_sgn(raw(rest)));
  const bool tail_exact = exact && mpfr_cmp_d(raw(rest), tail) == 0;
  return {round_head_tail(head, mpfr_zero_p(raw(rest)) != 0 ? 0 : side, format),
          tail_exact && is_tie(format, head, tail)};
}

}  // namespace

// The value is base + gamma factor.
struct ExactLora::Terms {
  Arithmetic arithmetic;
  Real base = arithmetic.zero(), factor = arithmetic.zero();
};

Enclosure enclosed(const LoraScale& s) {
  Real g = real(320);
  bool exact = true;
  if (const std::int64_t divisor = divisor_of(s); divisor != 0) {
    mpfr_set_d(raw(g), s.alpha, MPFR_RNDN);
    exact = mpfr_div_si(raw(g), raw(g), divisor, MPFR_RNDN) == 0;
  } else {
    mpfr_set_si(raw(g), s.r, MPFR_RNDN);
    mpfr_rec_sqrt(raw(g), raw(g), MPFR_RNDN);
    exact = mpfr_mul_d(raw(g), raw(g), s.alpha, MPFR_RNDN) == 0 && s.alpha == 0;
  }
  Enclosure e;
  const auto take = [&g] {
    const double v = mpfr_get_d(raw(g), MPFR_RNDN);
    mpfr_sub_d(raw(g), raw(g), v, MPFR_RNDN);
    return v;
  };
  e.head = take();
  e.tail = take();
  mpfr_abs(raw(g), raw(g), MPFR_RNDU);
  // The 320 bits themselves are off by less than 2^-318 of gamma.
  if (!exact || mpfr_zero_p(raw(g)) == 0)
    e.bound = kInflation * mpfr_get_d(raw(g), MPFR_RNDU) + 0x1p-300 * std::fabs(e.head) + 0x1p-1073;
  return e;
}

ExactLora::ExactLora(const LoraProblem& p)
    : problem_(p),
      index_(lora_index(p.map)),
      inverse_(static_cast<std::size_t>(p.map.out()), -1),
      parts_(p.map.parts()),
      enabled_(p.map.enabled()),
      out_(p.map.out()) {
  for (std::size_t t = 0; t < index_.size(); ++t)
    inverse_[static_cast<std::size_t>(index_[t])] = static_cast<std::int64_t>(t);
}

// False where the precision was not enough.
bool ExactLora::evaluate(LoraStage stage, std::size_t element, Terms& terms) const {
  const LoraInputs& in = problem_.inputs;
  const std::int64_t r = problem_.scale.r;
  Arithmetic& math = terms.arithmetic;
  Real &base = terms.base, &factor = terms.factor;
  const auto x = [&](std::int64_t row, std::int64_t c) { return in.x[static_cast<std::size_t>(row * in.in + c)]; };
  const auto w = [&](std::int64_t o, std::int64_t c) { return in.weight[static_cast<std::size_t>(o * in.in + c)]; };
  const auto a = [&](std::int64_t k, std::int64_t c) { return in.a[static_cast<std::size_t>(k * in.in + c)]; };
  const auto b = [&](std::int64_t e, std::int64_t k) { return in.b[static_cast<std::size_t>(e * r + k)]; };
  const auto grad = [&](std::int64_t row, std::int64_t o) {
    return in.grad_output[static_cast<std::size_t>(row * out_ + o)];
  };
  // The enabled part of an enabled column, and the columns of one.
  std::int64_t ends[3] = {}, count = 0;
  for (int part = 0; part < 3; ++part)
    if (problem_.map.enable[part]) {
      ends[count] = (count == 0 ? 0 : ends[count - 1]) + problem_.map.size(part);
      ++count;
    }
  const auto part_of = [&](std::int64_t e) { return std::int64_t{e >= ends[0]} + int{count > 1 && e >= ends[1]}; };
  const auto low = [&](std::int64_t row, std::int64_t k) {  // x A^T
    Real sum = math.zero();
    for (std::int64_t c = 0; c < in.in; ++c) math.add_product(sum, x(row, c), a(k, c));
    return sum;
  };
  const auto up = [&](std::int64_t row, std::int64_t k) {  // G_j B_j
    Real sum = math.zero();
    const std::int64_t part = k / r;
    for (std::int64_t e = part == 0 ? 0 : ends[part - 1]; e < ends[part]; ++e)
      math.add_product(sum, grad(row, index_[static_cast<std::size_t>(e)]), b(e, k % r));
    return sum;
  };
  const auto add_delta = [&](std::int64_t row, std::int64_t e) {
    if (!in.delta.empty() && stage != LoraStage::delta)
      return math.add(base, in.delta[static_cast<std::size_t>(row * enabled_ + e)]);
    for (std::int64_t k = 0; k < r; ++k) math.add_product(factor, low(row, part_of(e) * r + k), b(e, k));
  };
  const auto add_weight_delta = [&](std::int64_t e, std::int64_t c) {
    for (std::int64_t k = 0; k < r; ++k) math.add_product(factor, b(e, k), a(part_of(e) * r + k, c));
  };
  const bool wide_rows = stage == LoraStage::padded || stage == LoraStage::output;
  const std::int64_t width = wide_rows                         ? out_
                             : stage == LoraStage::delta       ? enabled_
                             : stage == LoraStage::grad_lora_b ? r
                                                               : in.in;
  const auto i = static_cast<std::int64_t>(element) / width, j = static_cast<std::int64_t>(element) % width;
  switch (stage) {
    case LoraStage::delta:
      add_delta(i, j);
      break;
    case LoraStage::output:
      for (std::int64_t c = 0; c < in.in; ++c) math.add_product(base, x(i, c), w(j, c));
      if (!in.bias.empty()) math.add(base, in.bias[static_cast<std::size_t>(j)]);
      if (!in.padded.empty()) {
        math.add(base, in.padded[element]);
        break;
      }
      [[fallthrough]];
    case LoraStage::padded:
      if (inverse_[static_cast<std::size_t>(j)] >= 0) add_delta(i, inverse_[static_cast<std::size_t>(j)]);
      break;
    case LoraStage::merged:
      math.add(base, w(i, j));
      if (inverse_[static_cast<std::size_t>(i)] >= 0) add_weight_delta(inverse_[static_cast<std::size_t>(i)], j);
      break;
    case LoraStage::weight_delta:
      add_weight_delta(i, j);
      break;
    case LoraStage::grad_x:
      for (std::int64_t o = 0; o < out_; ++o) math.add_product(base, grad(i, o), w(o, j));
      for (std::int64_t k = 0; k < r * parts_; ++k) math.add_product(factor, up(i, k), a(k, j));
      break;
    case LoraStage::grad_lora_a:
      for (std::int64_t row = 0; row < in.rows; ++row) math.add_product(factor, up(row, i), x(row, j));
      break;
    case LoraStage::grad_lora_b:
      for (std::int64_t row = 0; row < in.rows; ++row)
        math.add_product(factor, low(row, part_of(i) * r + j), grad(row, index_[static_cast<std::size_t>(i)]));
      break;
  }
  return math.exact;
}

ExactRounding ExactLora::round(Format format, LoraStage stage, std::size_t element) const {
  const LoraScale& s = problem_.scale;
  int bits = 512;
  const auto terms = [&] {
    for (;; bits *= 2) {
      Terms t{{bits}};
      if (evaluate(stage, element, t)) return t;
    }
  }();
  const bool no_update = mpfr_zero_p(raw(terms.factor)) != 0 || s.alpha == 0;
  if (const std::int64_t divisor = no_update ? 1 : divisor_of(s); divisor != 0) {
    const Real alpha = real(no_update ? 0 : s.alpha, 53);
    Real numerator = real(bits);
    for (bool exact = false; !exact; bits *= 2) {  // base and factor may be far apart
      Real product = real(bits + 64);
      numerator = real(bits);
      exact = mpfr_mul_si(raw(product), raw(terms.base), divisor, MPFR_RNDN) == 0;
      exact &= mpfr_fma(raw(numerator), raw(terms.factor), raw(alpha), raw(product), MPFR_RNDN) == 0;
    }
    bool exact_quotient = false;
    const Real quotient = odd_quotient(numerator, divisor, exact_quotient);
    return rounded(format, quotient, exact_quotient);
  }
  // base + alpha factor / sqrt(r) is irrational, so that enough bits decide (Ziv).
  for (int precision = 256; precision <= kMostBits; precision *= 2) {
    Real low = real(precision), high = real(precision), update = real(precision);
    mpfr_set_si(raw(update), s.r, MPFR_RNDN);
    mpfr_rec_sqrt(raw(update), raw(update), MPFR_RNDN);
    mpfr_mul_d(raw(update), raw(update), s.alpha, MPFR_RNDN);
    mpfr_mul(raw(update), raw(update), raw(terms.factor), MPFR_RNDN);
    Real error = real(64);  // three roundings of 2^-precision each
    mpfr_abs(raw(error), raw(update), MPFR_RNDU);
    mpfr_mul_2si(raw(error), raw(error), 2 - precision, MPFR_RNDU);
    mpfr_sub(raw(low), raw(update), raw(error), MPFR_RNDD);
    mpfr_add(raw(low), raw(low), raw(terms.base), MPFR_RNDD);
    mpfr_add(raw(high), raw(update), raw(error), MPFR_RNDU);
    mpfr_add(raw(high), raw(high), raw(terms.base), MPFR_RNDU);
    const double value = rounded(format, low, false).value;
    const bool one_sign = mpfr_sgn(raw(low)) == mpfr_sgn(raw(high));
    if (one_sign && value == rounded(format, high, false).value) return {value, false};
  }
  throw std::logic_error("LoRA reference: an irrational number that cannot be told from a midpoint");
}

}  // namespace ropewalk::reference
