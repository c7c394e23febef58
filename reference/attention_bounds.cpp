#include "reference/attention_bounds.hpp"

#include <algorithm>

#include "reference/attention_kernels.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kUnit = 0x1p-53, kSquare = kUnit * kUnit, kExponential = 0x1p-69;

// Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, lemma 3.1.
double gamma(double n) { return n * kUnit / (1 - n * kUnit); }

double product_size(const RowTerms& r) { return r.scale * r.q * r.k; }
double capped_size(const RowTerms& r) {
  return r.softcap != 0 ? std::min(product_size(r), r.softcap) : product_size(r);
}
// Keys whose bias lies further below have a weight under exp(-700): what they are off by does not matter.
double bias_size(const RowTerms& r) { return std::min(r.bias, 800 + 2 * capped_size(r)) + 3 * r.slope; }

// Of the logits, from inputs that are not exact, and from products that underflow.
double inherited(const RowTerms& r) {
  return 1.01 * r.scale * (r.q_error * r.k + r.q * r.k_error + r.q_error * r.k_error) + 1e-250;
}

double blocks(double keys) { return keys / kBlockKeys + 2; }

}  // namespace

double tier1_error(const RowTerms& r) {
  const double logit = gamma(r.exact_products ? 2 : r.head_dim + 2) * product_size(r) +
                       kUnit * (3 * capped_size(r) + 4 * bias_size(r) + 8 * r.softcap);
  const double weight = kUnit + kExponential, sums = 2 * gamma(kBlockKeys + blocks(r.keys) + 2);
  return 1.01 * (logit + inherited(r) + weight + sums + kUnit);
}

double tier2_error(const RowTerms& r) {
  const double logit = 1.01 * r.scale * gamma(2 * r.head_dim + 2) * r.cross +
                       32 * kSquare * (product_size(r) + capped_size(r) + bias_size(r)) + 0x1p-67 * r.softcap;
  const double b = blocks(r.keys), sums = 9 * b * b + 2 * r.keys * r.keys + 32;
  return 1.02 * (logit + inherited(r) + kExponential + gamma(2 * kBlockKeys + 3 * b + 8) * r.rest + sums * kSquare);
}

double tier2_value_error(double keys) { return 1.02 * gamma(2 * kBlockKeys + 3 * blocks(keys) + 10); }

}  // namespace ropewalk::reference
