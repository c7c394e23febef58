#include "harness/recipes/tracked.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace ropewalk {
namespace {

using reference::Format;
using reference::precision_of;
using reference::unit_roundoff;

struct Part {
  double value = 0, error = 0;
  bool exact() const { return error == 0; }
};

double entry(const std::vector<double>& list, std::size_t j) { return list.size() == 1 ? list[0] : list.at(j); }
Part part(const Tracked& x, std::size_t j) { return {entry(x.value, j), entry(x.error, j)}; }

bool is_power_of_two(const Part& x) {
  int exponent = 0;
  return x.exact() && std::fabs(std::frexp(x.value, &exponent)) == 0.5;
}
bool is_zero(const Part& x) { return x.exact() && x.value == 0; }

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (!is_floating(a)) return is_floating(b) ? b : DType::float32;
  if (!is_floating(b)) return a;
  return a == DType::float64 || b == DType::float64 ? DType::float64 : DType::float32;
}

// One rounding to `format`. Of what grows with the position nothing is known to be a number of the format.
void round(Part& x, Format format, bool by_position) {
  if (x.exact() && (x.value == 0 || std::isinf(x.value) || (!by_position && representable(x.value, format)))) return;
  x.error += unit_roundoff(format) * (std::fabs(x.value) + x.error);
}

Tracked result_of(std::initializer_list<const Tracked*> operands, DType dtype) {
  Tracked t;
  t.dtype = is_floating(dtype) ? dtype : DType::float32;
  std::size_t size = 1;
  for (const Tracked* x : operands) {
    if (x->trigonometric) throw Refused("no bound for this step after a cosine or sine");
    if (x->coarsest) t.note(*x->coarsest);
    size = size == 0 || x->value.empty() ? 0 : std::max(size, x->value.size());
  }
  t.value.resize(size);
  t.error.resize(size);
  return t;
}

// f makes each entry from those of x and y; `free` says where it needs no rounding.
template <class F, class Free>
Tracked arithmetic(const Tracked& x, const Tracked& y, bool by_position, F f, Free free) {
  Tracked t = result_of({&x, &y}, promoted(x.dtype, y.dtype));
  t.by_position = by_position;
  const Format format = arithmetic_format(t.dtype);
  t.note(format);
  for (std::size_t j = 0; j < t.value.size(); ++j) {
    const Part a = part(x, j), b = part(y, j);
    Part made = f(a, b);
    if (!free(a, b)) round(made, format, by_position);
    t.value[j] = made.value;
    t.error[j] = made.error;
  }
  // Half-precision kernels round their fp32 result once more.
  if (bytes_of(t.dtype) == 2) {
    t.note(format_of(t.dtype));
    for (std::size_t j = 0; j < t.value.size(); ++j) {
      Part made = part(t, j);
      round(made, format_of(t.dtype), by_position);
      t.error[j] = made.error;
    }
  }
  return t;
}

// A function whose own error is relative, `of_function`, and what its operand's error makes of it.
template <class F>
Tracked function(const Tracked& x, F f) {
  if (x.by_position) throw Refused("no bound for this function of what depends on the position");
  const Tracked none = exactly({0}, x.dtype);
  return arithmetic(
      x, none, false, [&](const Part& a, const Part&) { return f(a); }, [](const Part&, const Part&) { return true; });
}

}  // namespace

void Tracked::note(Format format) {
  if (!coarsest || precision_of(format) < precision_of(*coarsest)) coarsest = format;
}

double Tracked::relative(std::size_t j) const {
  const Part x = part(*this, j);
  return x.exact() ? 0 : x.error / std::fabs(x.value);
}

Format arithmetic_format(DType dtype) { return dtype == DType::float64 ? Format::float64 : Format::float32; }

bool representable(double v, Format f) {
  if (v == 0) return true;
  const double unit = reference::ulp(v, f);
  return std::fabs(v) < 0x1p100 && std::floor(v / unit) == v / unit;
}

Tracked exactly(std::vector<double> values, DType dtype) {
  Tracked t;
  t.error.assign(values.size(), 0);
  t.value = std::move(values);
  t.dtype = dtype;
  return t;
}

Tracked number_beside(double number, DType dtype) {
  Tracked t = exactly({number}, dtype);
  const Format format = arithmetic_format(dtype);
  if (!representable(number, format)) t.error[0] = std::fabs(number) * unit_roundoff(format);
  return t;
}

Tracked rounded(Tracked t, DType dtype) {
  const bool widens =
      is_floating(dtype) && is_floating(t.dtype) && precision_of(format_of(dtype)) >= precision_of(format_of(t.dtype));
  t.dtype = dtype;
  if (!is_floating(dtype) || widens) return t;
  const Format format = format_of(dtype);
  t.note(format);
  if (t.trigonometric) {
    t.trig.roundings.push_back(format);
    return t;
  }
  for (std::size_t j = 0; j < t.value.size(); ++j) {
    Part x = part(t, j);
    round(x, format, t.by_position);
    t.error[j] = x.error;
  }
  return t;
}

Tracked truncated(Tracked t, int bits) {
  for (std::size_t j = 0; j < t.value.size(); ++j)
    t.error[j] += std::ldexp(1, 1 - bits) * (std::fabs(t.value[j]) + t.error[j]);
  return t;
}

Tracked negated(Tracked t) {
  for (double& v : t.value) v = -v;
  return t;
}

Tracked sum(const Tracked& x, const Tracked& y, int sign) {
  if (x.by_position != y.by_position) throw Refused("no bound for a sum of a multiple of the position and a number");
  return arithmetic(
      x, y, x.by_position,
      [&](const Part& a, const Part& b) {
        return Part{a.value + sign * b.value, a.error + b.error};
      },
      [](const Part& a, const Part& b) { return is_zero(a) || is_zero(b); });
}

Tracked product(const Tracked& x, const Tracked& y) {
  if (x.by_position && y.by_position) throw Refused("no bound for a product of two multiples of the position");
  const bool by_position = x.by_position || y.by_position;
  return arithmetic(
      x, y, by_position,
      [](const Part& a, const Part& b) {
        return Part{a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error};
      },
      [&](const Part& a, const Part& b) {
        return is_zero(a) || is_zero(b) || (!by_position && (is_power_of_two(a) || is_power_of_two(b)));
      });
}

Tracked quotient(const Tracked& x, const Tracked& y) {
  if (y.by_position) throw Refused("no bound for a quotient by a multiple of the position");
  return arithmetic(
      x, y, x.by_position,
      [](const Part& a, const Part& b) {
        const double size = std::fabs(b.value) - b.error, q = a.value / b.value;
        const bool beyond = is_zero(b) && std::fabs(a.value) > a.error;  // infinite, with a certain sign
        if (beyond || (a.exact() && b.exact())) return Part{q, 0};
        return Part{q, size > 0 ? (a.error + std::fabs(q) * b.error) / size : std::numeric_limits<double>::infinity()};
      },
      [&](const Part& a, const Part& b) { return is_zero(a) || (!x.by_position && is_power_of_two(b)); });
}

Tracked divided(const Tracked& x, double number, const DocumentedBounds& device) {
  if (number == 1) return x;
  const Format format = arithmetic_format(x.dtype);
  if (!device.divides_by_reciprocal || number == 0 || representable(1 / number, format))
    return quotient(x, number_beside(number, x.dtype));
  Tracked inverse = number_beside(number, x.dtype);
  inverse.error[0] = inverse.error[0] / number / number + unit_roundoff(format) / std::fabs(number) * 1.0000002;
  inverse.value[0] = 1 / number;
  return product(x, inverse);
}

// base^(x + d) = base^x base^d, and (base (1 + e))^x = base^x (1 + e)^x.
Tracked power(const Tracked& base, const Tracked& exponent, const DocumentedBounds& device) {
  if (base.by_position || exponent.by_position) throw Refused("no bound for a power of what depends on the position");
  const double of_function =
      2 * device.pow_ulp * unit_roundoff(arithmetic_format(promoted(base.dtype, exponent.dtype)));
  return arithmetic(
      base, exponent, false,
      [&](const Part& b, const Part& x) {
        const double value = std::pow(b.value, x.value);
        if (is_zero(x) || (b.exact() && b.value == 1)) return Part{value, 0};  // C99, F.9.4.4
        const double of_exponent = std::expm1(std::fabs(std::log(b.value)) * x.error);
        const double of_base = std::expm1(-(std::fabs(x.value) + x.error) * std::log1p(-b.error / b.value));
        return Part{value, value * compose(compose(of_exponent, of_base), of_function)};
      },
      [](const Part&, const Part&) { return true; });
}

Tracked exponential(const Tracked& x, double base, const DocumentedBounds& device) {
  const double log_base = base == 2 ? std::numbers::ln2 : 1;
  const double of_function = 2 * device.exp_log_ulp * unit_roundoff(arithmetic_format(x.dtype));
  return function(x, [&](const Part& a) {
    const double value = std::exp(log_base * a.value);
    return is_zero(a) ? Part{1, 0} : Part{value, value * compose(std::expm1(log_base * a.error), of_function)};
  });
}

Tracked logarithm(const Tracked& x, const DocumentedBounds& device) {
  const double of_function = 2 * device.exp_log_ulp * unit_roundoff(arithmetic_format(x.dtype));
  return function(x, [&](const Part& a) {
    const double value = std::log(a.value), moved = -std::log1p(-a.error / a.value);
    return Part{value, moved + of_function * (std::fabs(value) + moved)};
  });
}

Tracked clamped(const Tracked& x, double low, double high) {
  if (x.by_position) throw Refused("no bound for a clamp of what depends on the position");
  Tracked t = x;
  for (std::size_t j = 0; j < t.value.size(); ++j) {
    const bool above = x.value[j] - x.error[j] >= high, below = x.value[j] + x.error[j] <= low;
    t.value[j] = std::clamp(x.value[j], low, high);
    if (above || below) t.error[j] = 0;
  }
  return t;
}

Tracked selected(const Tracked& x, const Tracked& y, const Tracked& a, const Tracked& b) {
  if (x.by_position || y.by_position) throw Refused("no bound for a choice that depends on the position");
  if (a.by_position != b.by_position) throw Refused("no bound for a choice of a multiple of the position and a number");
  Tracked t = result_of({&a, &b, &x, &y}, promoted(a.dtype, b.dtype));
  t.by_position = a.by_position;
  for (std::size_t j = 0; j < t.value.size(); ++j) {
    const Part left = part(x, j), right = part(y, j), yes = part(a, j), no = part(b, j);
    const bool less = left.value < right.value;
    const Part &taken = less ? yes : no, &other = less ? no : yes;
    const double distance = std::fabs(left.value - right.value), doubt = left.error + right.error;
    const bool certain = doubt == 0 || distance > doubt;
    t.value[j] = taken.value;
    t.error[j] = certain ? taken.error : std::max(taken.error, std::fabs(taken.value - other.value) + other.error);
  }
  return t;
}

Tracked running_product(const Tracked& first, const Tracked& ratio, std::size_t count) {
  if (ratio.by_position || first.value.size() != 1 || ratio.value.size() != 1)
    throw Refused("no bound for this running product");
  Tracked t = first;
  Tracked next = first;
  for (std::size_t j = 1; j < count; ++j) {
    next = product(next, ratio);
    t.value.push_back(next.value[0]);
    t.error.push_back(next.error[0]);
  }
  t.coarsest = next.coarsest;
  return t;
}

Tracked selected_by(const Tracked& x, const Tracked& index) {
  if (x.trigonometric || x.value.size() == 1) return x;
  Tracked t = x;
  t.value.clear();
  t.error.clear();
  for (const double i : index.value) {
    const std::size_t j = static_cast<std::size_t>(i) % x.value.size();
    t.value.push_back(x.value[j]);
    t.error.push_back(x.error[j]);
  }
  return t;
}

Tracked joined(const Tracked& x, const Tracked& y) {
  if (x.by_position || y.by_position || x.trigonometric || y.trigonometric)
    throw Refused("no bound for this concatenation");
  Tracked t = x;
  t.value.insert(t.value.end(), y.value.begin(), y.value.end());
  t.error.insert(t.error.end(), y.error.begin(), y.error.end());
  return t;
}

}  // namespace ropewalk
