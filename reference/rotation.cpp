#include "reference/rotation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "reference/bounded.hpp"
#include "reference/certify.hpp"
#include "reference/enclosed.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

struct Shape {
  std::size_t rows = 0, heads = 0, dim = 0, pairs = 0;
};

Shape shape_of(const Rotation& r, std::size_t numbers, std::size_t cosines, std::size_t sines) {
  if (r.rotary < 2 || r.rotary % 2 != 0 || r.rotary > r.head_dim)
    throw std::invalid_argument("rotation: rotary " + std::to_string(r.rotary) +
                                " is not even and between 2 and head_dim " + std::to_string(r.head_dim));
  Shape s;
  s.dim = static_cast<std::size_t>(r.head_dim);
  s.pairs = static_cast<std::size_t>(r.rotary / 2);
  s.rows = cosines / s.pairs;
  if (cosines != sines || cosines % s.pairs != 0)
    throw std::invalid_argument("rotation: " + std::to_string(cosines) + " cosines and " + std::to_string(sines) +
                                " sines are not rows of " + std::to_string(s.pairs));
  s.heads = s.rows == 0 ? 0 : numbers / (s.rows * s.dim);
  if (numbers != s.rows * s.heads * s.dim)
    throw std::invalid_argument("rotation: " + std::to_string(numbers) + " numbers are not " + std::to_string(s.rows) +
                                " rows of heads of " + std::to_string(s.dim));
  return s;
}

Bounded at(const Reals& x, std::size_t i) { return {{x.head[i], x.tail_at(i)}, x.bound_at(i)}; }

// a c + b s, or a c - b s; where that is not finite, what doubles give.
Bounded combine(const Bounded& a, const Bounded& c, const Bounded& b, const Bounded& s, bool minus) {
  const Bounded bs = product(b, s), v = sum(product(a, c), minus ? negative(bs) : bs);
  if (std::isfinite(v.value.high)) return v;
  const double first = a.value.high * c.value.high, second = b.value.high * s.value.high;
  return {{minus ? first - second : first + second, 0}, 0};
}

// Calls turn(first channel, second channel, index of the angle) for each pair, keep(channel) for the rest.
template <class Turn, class Keep>
void for_each_pair(const Rotation& r, const Shape& shape, const Turn& turn, const Keep& keep) {
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t base = (row * shape.heads + head) * shape.dim;
      for (std::size_t j = 0; j < shape.pairs; ++j) {
        if (r.pairing == Pairing::half_split) {
          turn(base + j, base + j + shape.pairs, row * shape.pairs + j);
        } else {
          turn(base + 2 * j, base + 2 * j + 1, row * shape.pairs + j);
        }
      }
      for (std::size_t c = 2 * shape.pairs; c < shape.dim; ++c) keep(base + c);
    }
  }
}

// The sum or difference of two exact products, rounded once: no doubles need more bits than these.
double round_exactly(double a, double c, double b, double s, bool minus, Format format, bool& tie) {
  constexpr int kBits = 4400;
  Real exact = real(kBits), product = real(kBits);
  mpfr_set_d(raw(exact), a, MPFR_RNDN);
  mpfr_mul_d(raw(exact), raw(exact), c, MPFR_RNDN);
  mpfr_set_d(raw(product), b, MPFR_RNDN);
  mpfr_mul_d(raw(product), raw(product), s, MPFR_RNDN);
  if (minus) mpfr_neg(raw(product), raw(product), MPFR_RNDN);
  mpfr_add(raw(exact), raw(exact), raw(product), MPFR_RNDN);
  const double head = mpfr_get_d(raw(exact), MPFR_RNDN);
  const int side = mpfr_cmp_d(raw(exact), head);
  mpfr_sub_d(raw(product), raw(exact), head, MPFR_RNDN);  // what is left
  const double tail = mpfr_get_d(raw(product), MPFR_RNDN);
  tie = mpfr_cmp_d(raw(product), tail) == 0 && is_tie(format, head, tail);
  return round_head_tail(head, side == 0 ? 0 : std::copysign(0x1p-1074, side), format);
}

}  // namespace

void rotate_vectors(const Rotation& rotation, const Reals& x, const Reals& cos, const Reals& sin, Enclosures& out) {
  const Shape shape = shape_of(rotation, x.size(), cos.size(), sin.size());
  out.resize(x.size());
  const auto store = [&](std::size_t i, const Bounded& v) {
    out.head[i] = v.value.high;
    out.tail[i] = v.value.low;
    out.bound[i] = v.bound;
  };
  for_each_pair(
      rotation, shape,
      [&](std::size_t first, std::size_t second, std::size_t angle) {
        const Bounded a = at(x, first), b = at(x, second), c = at(cos, angle), s = at(sin, angle);
        store(first, combine(a, c, b, s, !rotation.conjugate));
        store(second, combine(b, c, a, s, rotation.conjugate));
      },
      [&](std::size_t i) { store(i, at(x, i)); });
}

Proof rotate_rounded(const Rotation& rotation, Format format, std::span<const double> x, std::span<const double> cos,
                     std::span<const double> sin, std::span<double> out) {
  const Shape shape = shape_of(rotation, x.size(), cos.size(), sin.size());
  if (out.size() != x.size()) throw std::invalid_argument("rotation: the output has another size than x");
  Proof proof;
  const auto rounded = [&](double a, double c, double b, double s, bool minus) {
    const Bounded v = combine({{a, 0}, 0}, {{c, 0}, 0}, {{b, 0}, 0}, {{s, 0}, 0}, minus);
    if (!std::isfinite(v.value.high)) return ++proof.exact, v.value.high;
    if (const auto r = round_within(v.value.high, v.value.low, v.bound, format)) return ++proof.fast, *r;
    bool tie = false;
    const double r = round_exactly(a, c, b, s, minus, format, tie);
    proof.midpoints += int{tie};
    return ++proof.fallback, r;
  };
  for_each_pair(
      rotation, shape,
      [&](std::size_t first, std::size_t second, std::size_t angle) {
        const double a = x[first], b = x[second], c = cos[angle], s = sin[angle];
        out[first] = rounded(a, c, b, s, !rotation.conjugate);
        out[second] = rounded(b, c, a, s, rotation.conjugate);
      },
      [&](std::size_t i) {
        out[i] = round_head_tail(x[i], 0, format);
        ++proof.exact;
      });
  return proof;
}

}  // namespace ropewalk::reference
