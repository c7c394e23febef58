#include "reference/lora_exact.hpp"

#include <algorithm>

namespace ropewalk::reference {
namespace {

std::size_t at(std::int64_t row, std::int64_t width, std::int64_t column) {
  return static_cast<std::size_t>(row * width + column);
}

// base + gamma factor is one element. Sums of products in a fixed precision, that notice when it was not enough.
class Element {
 public:
  Element(const LoraProblem& problem, const std::vector<std::int64_t>& index, int bits)
      : base(real(bits)),
        factor(real(bits)),
        in_(problem.inputs),
        index_(index),
        bits_(bits),
        r_(problem.scale.r),
        out_(problem.map.out()),
        parts_(problem.map.parts()) {
    std::int64_t end = 0;
    for (int part = 0; part < 3; ++part)
      if (problem.map.enable[part]) ends_.push_back(end += problem.map.size(part));
  }

  // False if the precision was not enough.
  bool evaluate(LoraStage stage, std::int64_t element);

  Real base, factor;

 private:
  void add(Real& sum, double v) { exact_ &= mpfr_add_d(raw(sum), raw(sum), v, MPFR_RNDN) == 0; }
  void add_product(Real& sum, const Real& a, double b) {
    const Real number = real(b, 53);
    exact_ &= mpfr_fma(raw(sum), raw(a), raw(number), raw(sum), MPFR_RNDN) == 0;
  }
  void add_product(Real& sum, double a, double b) { add_product(sum, real(a, 53), b); }

  std::int64_t enabled() const { return static_cast<std::int64_t>(index_.size()); }
  std::int64_t part_of(std::int64_t e) const { return std::upper_bound(ends_.begin(), ends_.end(), e) - ends_.begin(); }
  std::int64_t column(std::int64_t e) const { return index_[static_cast<std::size_t>(e)]; }
  // The enabled column at a column of `out`; `enabled()` if there is none.
  std::int64_t enabled_at(std::int64_t o) const { return std::find(index_.begin(), index_.end(), o) - index_.begin(); }

  double x(std::int64_t row, std::int64_t c) const { return in_.x[at(row, in_.in, c)]; }
  double weight(std::int64_t o, std::int64_t c) const { return in_.weight[at(o, in_.in, c)]; }
  double a(std::int64_t k, std::int64_t c) const { return in_.a[at(k, in_.in, c)]; }
  double b(std::int64_t e, std::int64_t k) const { return in_.b[at(e, r_, k)]; }
  double gradient(std::int64_t row, std::int64_t o) const { return in_.grad_output[at(row, out_, o)]; }

  Real low(std::int64_t row, std::int64_t k);  // x A^T
  Real up(std::int64_t row, std::int64_t k);   // G_j B_j
  void add_delta(std::int64_t row, std::int64_t e);
  void add_weight_delta(std::int64_t e, std::int64_t c);
  void add_linear(std::int64_t row, std::int64_t o);

  const LoraInputs& in_;
  const std::vector<std::int64_t>& index_;
  int bits_;
  std::int64_t r_, out_, parts_;
  std::vector<std::int64_t> ends_;  // of the enabled parts, among the enabled columns
  bool exact_ = true;
};

Real Element::low(std::int64_t row, std::int64_t k) {
  Real sum = real(bits_);
  for (std::int64_t c = 0; c < in_.in; ++c) add_product(sum, x(row, c), a(k, c));
  return sum;
}

Real Element::up(std::int64_t row, std::int64_t k) {
  Real sum = real(bits_);
  const auto part = static_cast<std::size_t>(k / r_);
  for (std::int64_t e = part == 0 ? 0 : ends_[part - 1]; e < ends_[part]; ++e)
    add_product(sum, gradient(row, column(e)), b(e, k % r_));
  return sum;
}

void Element::add_delta(std::int64_t row, std::int64_t e) {
  for (std::int64_t k = 0; k < r_; ++k) add_product(factor, low(row, part_of(e) * r_ + k), b(e, k));
}

void Element::add_weight_delta(std::int64_t e, std::int64_t c) {
  for (std::int64_t k = 0; k < r_; ++k) add_product(factor, b(e, k), a(part_of(e) * r_ + k, c));
}

void Element::add_linear(std::int64_t row, std::int64_t o) {
  for (std::int64_t c = 0; c < in_.in; ++c) add_product(base, x(row, c), weight(o, c));
  if (!in_.bias.empty()) add(base, in_.bias[static_cast<std::size_t>(o)]);
}

bool Element::evaluate(LoraStage stage, std::int64_t element) {
  const bool wide = stage == LoraStage::padded || stage == LoraStage::output;
  const std::int64_t width = wide                              ? out_
                             : stage == LoraStage::delta       ? enabled()
                             : stage == LoraStage::grad_lora_b ? r_
                                                               : in_.in;
  const std::int64_t i = element / width, j = element % width;
  switch (stage) {
    case LoraStage::delta:
      add_delta(i, j);
      break;
    case LoraStage::output:
      add_linear(i, j);
      if (!in_.padded.empty()) {
        add(base, in_.padded[at(i, out_, j)]);
        break;
      }
      [[fallthrough]];
    case LoraStage::padded:
      if (const std::int64_t e = enabled_at(j); e < enabled())
        in_.delta.empty() ? add_delta(i, e) : add(base, in_.delta[at(i, enabled(), e)]);
      break;
    case LoraStage::merged:
      add(base, weight(i, j));
      if (const std::int64_t e = enabled_at(i); e < enabled()) add_weight_delta(e, j);
      break;
    case LoraStage::weight_delta:
      add_weight_delta(i, j);
      break;
    case LoraStage::grad_x:
      for (std::int64_t o = 0; o < out_; ++o) add_product(base, gradient(i, o), weight(o, j));
      for (std::int64_t k = 0; k < r_ * parts_; ++k) add_product(factor, up(i, k), a(k, j));
      break;
    case LoraStage::grad_lora_a:
      for (std::int64_t row = 0; row < in_.rows; ++row) add_product(factor, up(row, i), x(row, j));
      break;
    case LoraStage::grad_lora_b:
      for (std::int64_t row = 0; row < in_.rows; ++row)
        add_product(factor, low(row, part_of(i) * r_ + j), gradient(row, column(i)));
      break;
  }
  return exact_;
}

}  // namespace

ExactRounding round_exactly(Format format, LoraStage stage, const LoraProblem& problem, std::size_t element) {
  const std::vector<std::int64_t> index = lora_index(problem.map);
  for (int bits = 512;; bits *= 2) {
    Element e(problem, index, bits);
    if (e.evaluate(stage, static_cast<std::int64_t>(element)))
      return round_update(format, e.base, e.factor, problem.scale);
  }
}

}  // namespace ropewalk::reference
