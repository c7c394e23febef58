#include "tests/reference/scaling_oracle.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

namespace ropewalk::reference {
namespace {

// An arb_t that frees itself, with the operations needed here at one precision.
class Ball {
 public:
  explicit Ball(slong bits) : bits_(bits) { arb_init(x_); }
  Ball(slong bits, double value) : Ball(bits) { arb_set_d(x_, value); }
  Ball(const Ball& other) : Ball(other.bits_) { arb_set(x_, other.x_); }
  Ball& operator=(const Ball& other) {
    arb_set(x_, other.x_);
    return *this;
  }
  ~Ball() { arb_clear(x_); }
  const arb_struct* get() const { return x_; }
  Ball operator+(const Ball& b) const { return by(arb_add, b); }
  Ball operator-(const Ball& b) const { return by(arb_sub, b); }
  Ball operator*(const Ball& b) const { return by(arb_mul, b); }
  Ball operator/(const Ball& b) const { return by(arb_div, b); }
  Ball number(double value) const { return {bits_, value}; }
  Ball log() const { return by(arb_log); }
  Ball sqrt() const { return by(arb_sqrt); }
  Ball floor() const { return certain(by(arb_floor)); }
  Ball ceil() const { return certain(by(arb_ceil)); }
  Ball power(const Ball& exponent) const { return by(arb_pow, exponent); }
  Ball pi() const {
    Ball out(bits_);
    arb_const_pi(out.x_, bits_);
    return out;
  }
  bool below(const Ball& b) const {
    if (!arb_lt(x_, b.x_) && !arb_ge(x_, b.x_)) throw std::runtime_error("the oracle cannot compare");
    return arb_lt(x_, b.x_) != 0;
  }

 private:
  template <class F>
  Ball by(F f) const {
    Ball out(bits_);
    f(out.x_, x_, bits_);
    return out;
  }
  template <class F>
  Ball by(F f, const Ball& b) const {
    Ball out(bits_);
    f(out.x_, x_, b.x_, bits_);
    return out;
  }
  static Ball certain(const Ball& b) {
    if (arb_is_exact(b.x_) == 0) throw std::runtime_error("the oracle cannot tell a whole number");
    return b;
  }
  slong bits_;
  arb_t x_;
};

Ball largest(const Ball& a, const Ball& b) { return a.below(b) ? b : a; }
Ball least(const Ball& a, const Ball& b) { return a.below(b) ? a : b; }

Ball power_of(const Ball& base, int dim, int j) {
  return base.number(1) / base.power(base.number(2 * j) / base.number(dim));
}

Ball yarn(const Scaling& s, double base, int dim, int j, slong bits) {
  const Ball b(bits, base), one(bits, 1), zero(bits, 0), f(bits, s.factor), i(bits, j);
  const auto place = [&](double turns) {
    const Ball wavelength = Ball(bits, s.original_max_position_embeddings) / Ball(bits, turns);
    return Ball(bits, dim) * (wavelength / (b.pi() + b.pi())).log() / (b.log() + b.log());
  };
  Ball low = place(s.beta_fast), high = place(s.beta_slow);
  if (s.truncate) low = low.floor(), high = high.ceil();
  low = largest(low, zero), high = least(high, Ball(bits, dim - 1));
  if (s.beta_fast == s.beta_slow || arb_equal(low.get(), high.get()) != 0) high = low + Ball(bits, 0.001);
  const Ball ramp = largest(zero, least(one, (i - low) / (high - low)));
  const Ball w = power_of(b, dim, j);
  return w * (one - ramp) + w / f * ramp;
}

Ball llama3(const Scaling& s, double base, int dim, int j, slong bits) {
  const Ball w = power_of(Ball(bits, base), dim, j), length(bits, s.original_max_position_embeddings);
  const Ball low(bits, s.low_freq_factor), high(bits, s.high_freq_factor), f(bits, s.factor), one(bits, 1);
  const Ball wavelength = (w.pi() + w.pi()) / w;
  if (wavelength.below(length / high)) return w;
  if ((length / low).below(wavelength)) return w / f;
  const Ball smooth = (length / wavelength - low) / (high - low);
  return (one - smooth) * w / f + smooth * w;
}

Ball scaled(const Scaling& s, double base, int dim, int j, slong bits) {
  const Ball b(bits, base), f(bits, s.factor);
  const auto at = static_cast<std::size_t>(j);
  switch (s.type) {
    case Scaling::Type::none:
      return power_of(b, dim, j);
    case Scaling::Type::linear:
      return power_of(b, dim, j) / f;
    case Scaling::Type::dynamic: {
      const Ball one(bits, 1), length(bits, std::fmax(s.length, s.max_position_embeddings));
      const Ball stretch = f * length / Ball(bits, s.max_position_embeddings) - (f - one);
      return power_of(b * stretch.power(Ball(bits, dim) / Ball(bits, dim - 2)), dim, j);
    }
    case Scaling::Type::yarn:
      return yarn(s, base, dim, j, bits);
    case Scaling::Type::longrope:
      return power_of(b, dim, j) /
             Ball(bits, s.length > s.original_max_position_embeddings ? s.long_factor[at] : s.short_factor[at]);
    case Scaling::Type::llama3:
      return llama3(s, base, dim, j, bits);
    case Scaling::Type::proportional:
      return j < std::floor(s.proportion * dim / 2) ? power_of(b, dim, j) / f : Ball(bits, 0);
  }
  throw std::runtime_error("no such scaling");
}

Ball amplitude(const Scaling& s, slong bits) {
  const Ball one(bits, 1), length(bits, s.original_max_position_embeddings);
  const auto mscale = [&](double m) {
    return s.factor <= 1 ? one : Ball(bits, m) * Ball(bits, s.factor).log() / Ball(bits, 10) + one;
  };
  if (s.type != Scaling::Type::yarn && s.type != Scaling::Type::longrope) return one;
  if (s.attention_factor) return {bits, *s.attention_factor};
  if (s.type == Scaling::Type::yarn)
    return s.mscale && s.mscale_all_dim ? mscale(*s.mscale) / mscale(*s.mscale_all_dim) : mscale(1);
  const Ball f = s.max_position_embeddings > 0 ? Ball(bits, s.max_position_embeddings) / length : Ball(bits, s.factor);
  return one.below(f) ? (one + f.log() / length.log()).sqrt() : one;
}

}  // namespace

std::vector<ArbReal> scaled_reals(double base, int dim, const Scaling& scaling) {
  std::vector<ArbReal> reals;
  reals.reserve(static_cast<std::size_t>(dim / 2));
  for (int j = 0; j < dim / 2; ++j)
    reals.emplace_back([=](arb_t out, slong bits) { arb_set(out, scaled(scaling, base, dim, j, bits + 64).get()); });
  return reals;
}

ArbReal amplitude_real(const Scaling& scaling) {
  return ArbReal([scaling](arb_t out, slong bits) { arb_set(out, amplitude(scaling, bits + 64).get()); });
}

}  // namespace ropewalk::reference
