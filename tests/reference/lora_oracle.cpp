#include "tests/reference/lora_oracle.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace ropewalk::reference {
namespace {

// numerator / divisor rounded to the format: a whole number of quanta, ties to even.
RoundedTruth round_quotient(const arf_t numerator, std::int64_t divisor, Format format) {
  if (arf_is_zero(numerator)) return {0, false};
  fmpz_t n, d, quanta, rest, exponent;
  for (auto* z : {n, d, quanta, rest, exponent}) fmpz_init(z);
  arf_get_fmpz_2exp(n, exponent, numerator);
  const bool negative = fmpz_sgn(n) < 0;
  fmpz_abs(n, n);
  const slong scale = fmpz_get_si(exponent);
  fmpz_set_si(d, divisor);
  // floor(log2 of the quotient): from the lengths, or one less.
  slong top = static_cast<slong>(fmpz_bits(n)) - static_cast<slong>(fmpz_bits(d));
  {
    fmpz_t left, right;
    fmpz_init_set(left, n);
    fmpz_init_set(right, d);
    top >= 0 ? fmpz_mul_2exp(right, right, static_cast<ulong>(top))
             : fmpz_mul_2exp(left, left, static_cast<ulong>(-top));
    if (fmpz_cmp(left, right) < 0) --top;
    fmpz_clear(left);
    fmpz_clear(right);
  }
  const slong quantum = std::max<slong>(top + scale, min_exponent_of(format)) - (precision_of(format) - 1);
  const slong shift = scale - quantum;
  shift >= 0 ? fmpz_mul_2exp(n, n, static_cast<ulong>(shift)) : fmpz_mul_2exp(d, d, static_cast<ulong>(-shift));
  fmpz_fdiv_qr(quanta, rest, n, d);
  fmpz_mul_2exp(rest, rest, 1);
  const int half = fmpz_cmp(rest, d);
  if (half > 0 || (half == 0 && fmpz_is_odd(quanta))) fmpz_add_ui(quanta, quanta, 1);
  const int emax = format == Format::float64 ? 1023 : format == Format::float16 ? 15 : 127;
  const bool overflow = static_cast<slong>(fmpz_bits(quanta)) + quantum > emax + 1;
  const double size = overflow ? HUGE_VAL : std::ldexp(fmpz_get_d(quanta), static_cast<int>(quantum));
  for (auto* z : {n, d, quanta, rest, exponent}) fmpz_clear(z);
  return {negative ? -size : size, half == 0 && !overflow};
}

std::int64_t whole_root(std::int64_t r) {
  for (std::int64_t root = 1; root * root <= r; ++root)
    if (root * root == r) return root;
  return 0;
}

// 0: irrational.
std::int64_t divisor(const LoraScale& s) {
  return s.kind == LoraScale::over_r ? s.r : s.kind == LoraScale::plain ? 1 : whole_root(s.r);
}

// base divisor + alpha factor, exact.
Dyadic numerator(const LoraTruth& t, std::int64_t by, double alpha) {
  Dyadic n;
  n.add_product(t.base, Dyadic(static_cast<double>(by)));
  return n.add_product(t.factor, Dyadic(alpha));
}

// A ball around base + alpha factor / sqrt(r).
class Ball {
 public:
  Ball(const LoraTruth& t, const LoraScale& s, slong bits) {
    arb_init(ball);
    arb_t part;
    arb_init(part);
    arb_set_si(ball, s.r);
    arb_rsqrt(ball, ball, bits);
    arb_set_d(part, s.alpha);
    arb_mul(ball, ball, part, bits);
    arb_set_arf(part, t.factor.get());
    arb_mul(ball, ball, part, bits);
    arb_set_arf(part, t.base.get());
    arb_add(ball, ball, part, bits);
    arb_clear(part);
  }
  Ball(const Ball&) = delete;
  Ball& operator=(const Ball&) = delete;
  ~Ball() { arb_clear(ball); }
  arb_t ball;
};

using Dense = std::vector<Dyadic>;

Dense exact(std::span<const double> values) {
  Dense d;
  d.reserve(values.size());
  for (const double v : values) d.emplace_back(v);
  return d;
}

std::size_t at(std::int64_t row, std::int64_t width, std::int64_t column) {
  return static_cast<std::size_t>(row * width + column);
}

}  // namespace

Dyadic& Dyadic::add(const Dyadic& a) {
  arf_add(x_, x_, a.x_, ARF_PREC_EXACT, ARF_RND_DOWN);
  return *this;
}

Dyadic& Dyadic::add_product(const Dyadic& a, const Dyadic& b) {
  arf_addmul(x_, a.x_, b.x_, ARF_PREC_EXACT, ARF_RND_DOWN);
  return *this;
}

std::vector<Owner> owners(const LoraMap& map) {
  std::vector<Owner> all;
  std::int64_t used[3] = {};
  const auto lay = [&](int part, std::int64_t heads) {
    for (std::int64_t i = 0; i < heads * map.head_dim; ++i) all.push_back({part, used[part]++});
  };
  if (map.layout == LoraLayout::contiguous) {
    lay(0, map.heads);
    lay(1, map.groups);
    lay(2, map.groups);
    return all;
  }
  for (std::int64_t group = 0; group < map.groups; ++group) {
    lay(0, map.heads / map.groups);
    lay(1, 1);
    lay(2, 1);
  }
  return all;
}

RoundedTruth LoraTruth::rounded(Format format, const LoraScale& s) const {
  if (arf_is_zero(factor.get())) return round_quotient(base.get(), 1, format);
  if (const std::int64_t by = divisor(s); by != 0)
    return round_quotient(numerator(*this, by, s.alpha).get(), by, format);
  for (slong bits = 256; bits < 100000; bits *= 2) {
    const Ball b(*this, s, bits);
    Dyadic low, high;
    arb_get_lbound_arf(low.get(), b.ball, bits);
    arb_get_ubound_arf(high.get(), b.ball, bits);
    const RoundedTruth below = round_quotient(low.get(), 1, format), above = round_quotient(high.get(), 1, format);
    if (below.value == above.value && arf_sgn(low.get()) == arf_sgn(high.get())) return {below.value, false};
  }
  throw std::runtime_error("the oracle cannot decide");
}

bool LoraTruth::within(const LoraScale& s, double head, double tail, double bound) const {
  if (std::isinf(bound)) return true;
  const std::int64_t by = arf_is_zero(factor.get()) ? 1 : divisor(s);
  if (by != 0) {
    Dyadic error = numerator(*this, by, s.alpha);
    error.add_product(Dyadic(-head), Dyadic(static_cast<double>(by)));
    error.add_product(Dyadic(-tail), Dyadic(static_cast<double>(by)));
    Dyadic limit;
    limit.add_product(Dyadic(bound), Dyadic(static_cast<double>(by)));
    return arf_cmpabs(error.get(), limit.get()) <= 0;
  }
  const slong bits = 8000;
  Ball error(*this, s, bits);
  arb_t part;
  arb_init(part);
  for (const double v : {head, tail}) {
    arb_set_d(part, v);
    arb_sub(error.ball, error.ball, part, bits);
  }
  arb_abs(error.ball, error.ball);
  arb_set_d(part, bound);
  const bool inside = arb_le(error.ball, part) != 0;
  arb_clear(part);
  return inside;
}

std::vector<LoraTruth> lora_truth(LoraStage stage, const LoraProblem& p) {
  const LoraInputs& in = p.inputs;
  const std::int64_t rows = in.rows, width = in.in, out = p.map.out(), r = p.scale.r;
  const Dense x = exact(in.x), w = exact(in.weight), a = exact(in.a), b = exact(in.b), g = exact(in.grad_output);
  const std::vector<Owner> owner = owners(p.map);
  // Of each output column: its block of A (or -1), its row of B, and the reverse.
  std::vector<std::int64_t> block(owner.size(), -1), row_of_b(owner.size(), -1);
  std::int64_t blocks = 0, enabled = 0;
  for (int part = 0; part < 3; ++part) {
    if (!p.map.enable[part]) continue;
    std::int64_t columns = 0;
    for (std::size_t o = 0; o < owner.size(); ++o) {
      if (owner[o].part != part) continue;
      block[o] = blocks;
      row_of_b[o] = enabled + owner[o].column;
      ++columns;
    }
    ++blocks;
    enabled += columns;
  }
  // The dense change of the weights without gamma, [out, in]; everything else follows from it.
  Dense change(static_cast<std::size_t>(out * width));
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t j = block[static_cast<std::size_t>(o)], e = row_of_b[static_cast<std::size_t>(o)];
    for (std::int64_t c = 0; j >= 0 && c < width; ++c)
      for (std::int64_t k = 0; k < r; ++k)
        change[at(o, width, c)].add_product(b[at(e, r, k)], a[at(j * r + k, width, c)]);
  }
  std::vector<std::int64_t> column_of(static_cast<std::size_t>(enabled));
  for (std::int64_t o = 0; o < out; ++o)
    if (const std::int64_t e = row_of_b[static_cast<std::size_t>(o)]; e >= 0)
      column_of[static_cast<std::size_t>(e)] = o;

  std::vector<LoraTruth> all;
  const auto each = [&all](std::int64_t m, std::int64_t n, const auto& f) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        LoraTruth t;
        f(i, j, t);
        all.push_back(t);
      }
  };
  const auto padded = [&](std::int64_t i, std::int64_t o, LoraTruth& t) {
    for (std::int64_t c = 0; c < width; ++c) t.factor.add_product(x[at(i, width, c)], change[at(o, width, c)]);
  };
  switch (stage) {
    case LoraStage::delta:
      each(rows, enabled, [&](auto i, auto e, auto& t) { padded(i, column_of[static_cast<std::size_t>(e)], t); });
      break;
    case LoraStage::padded:
      each(rows, out, padded);
      break;
    case LoraStage::output:
      each(rows, out, [&](auto i, auto o, auto& t) {
        padded(i, o, t);
        for (std::int64_t c = 0; c < width; ++c) t.base.add_product(x[at(i, width, c)], w[at(o, width, c)]);
        if (!in.bias.empty()) t.base.add(Dyadic(in.bias[static_cast<std::size_t>(o)]));
      });
      break;
    case LoraStage::weight_delta:
      each(enabled, width,
           [&](auto e, auto c, auto& t) { t.factor = change[at(column_of[static_cast<std::size_t>(e)], width, c)]; });
      break;
    case LoraStage::merged:
      each(out, width, [&](auto o, auto c, auto& t) {
        t.base = w[at(o, width, c)];
        t.factor = change[at(o, width, c)];
      });
      break;
    case LoraStage::grad_x:
      each(rows, width, [&](auto i, auto c, auto& t) {
        for (std::int64_t o = 0; o < out; ++o) {
          t.base.add_product(g[at(i, out, o)], w[at(o, width, c)]);
          t.factor.add_product(g[at(i, out, o)], change[at(o, width, c)]);
        }
      });
      break;
    case LoraStage::grad_lora_a:
      each(r * blocks, width, [&](auto row, auto c, auto& t) {
        for (std::int64_t o = 0; o < out; ++o) {
          if (block[static_cast<std::size_t>(o)] != row / r) continue;
          Dyadic gx;  // of the change's row o
          for (std::int64_t i = 0; i < rows; ++i) gx.add_product(g[at(i, out, o)], x[at(i, width, c)]);
          t.factor.add_product(gx, b[at(row_of_b[static_cast<std::size_t>(o)], r, row % r)]);
        }
      });
      break;
    case LoraStage::grad_lora_b:
      each(enabled, r, [&](auto e, auto k, auto& t) {
        const std::int64_t o = column_of[static_cast<std::size_t>(e)];
        for (std::int64_t c = 0; c < width; ++c) {
          Dyadic gx;
          for (std::int64_t i = 0; i < rows; ++i) gx.add_product(g[at(i, out, o)], x[at(i, width, c)]);
          t.factor.add_product(gx, a[at(block[static_cast<std::size_t>(o)] * r + k, width, c)]);
        }
      });
      break;
  }
  return all;
}

}  // namespace ropewalk::reference
