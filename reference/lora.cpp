#include "reference/lora.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "reference/dot.hpp"
#include "reference/lora_scale.hpp"

namespace ropewalk::reference {
namespace {

using Numbers = std::span<const double>;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

void require(const char* name, Numbers values, std::int64_t count, bool finite = true) {
  if (values.size() != size(count))
    throw std::invalid_argument(std::string("LoRA reference: ") + name + " has " + std::to_string(values.size()) +
                                " numbers instead of " + std::to_string(count));
  if (finite && !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    throw std::invalid_argument(std::string("LoRA reference: ") + name + " has numbers that are not finite");
}

Enclosures exactly(Numbers values) {
  return {{values.begin(), values.end()}, std::vector<double>(values.size()), std::vector<double>(values.size())};
}

template <class Function>
Enclosures each_vector(const Enclosures& e, const Function& f) {
  return {f(e.head), f(e.tail), f(e.bound)};
}

// Columns first .. first+count-1 of a matrix that is `width` wide.
std::vector<double> columns(Numbers values, std::int64_t width, std::int64_t first, std::int64_t count) {
  std::vector<double> out;
  out.reserve(width == 0 ? 0 : values.size() / size(width) * size(count));
  for (std::size_t row = 0; row < values.size(); row += size(width)) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row) + first;
    out.insert(out.end(), begin, begin + count);
  }
  return out;
}

Enclosures columns(const Enclosures& values, std::int64_t width, std::int64_t first, std::int64_t count) {
  return each_vector(values, [&](Numbers v) { return columns(v, width, first, count); });
}

void append(Enclosures& to, const Enclosures& rows) {
  to.head.insert(to.head.end(), rows.head.begin(), rows.head.end());
  to.tail.insert(to.tail.end(), rows.tail.begin(), rows.tail.end());
  to.bound.insert(to.bound.end(), rows.bound.begin(), rows.bound.end());
}

Enclosures pad(const LoraMap& map, const Enclosures& values) {
  return each_vector(values, [&](Numbers v) { return lora_pad(map, v); });
}

void add(Enclosures& to, const Enclosures& values) {
  for (std::size_t i = 0; i < to.size(); ++i)
    put(to, i, std::isfinite(values.head[i]) ? sum(at(to, i), at(values, i)) : at(values, i));
}

// The stages without gamma and without what is added to them.
class Update {
 public:
  explicit Update(const LoraProblem& problem)
      : map_(problem.map),
        in_(problem.inputs),
        r_(problem.scale.r),
        out_(map_.out()),
        enabled_(map_.enabled()),
        parts_(map_.parts()),
        index_(lora_index(map_)) {
    if (r_ < 1 || in_.rows < 1 || in_.in < 1 || !std::isfinite(problem.scale.alpha))
      throw std::invalid_argument("LoRA reference: rows, in and r are from 1 on, and alpha is finite");
  }

  Enclosures delta() const {
    return stacked_columns(down(), [&](const Part& p, const Enclosures& low) {
      return product(low, transposed(b_of(p), r_), {in_.rows, r_, p.size});
    });
  }

  Enclosures weight_delta() const {
    need_a_b();
    Enclosures rows;
    for_each_part([&](const Part& p) {
      append(rows,
             product(b_of(p), in_.a.subspan(size(p.ordinal * r_ * in_.in), size(r_ * in_.in)), {p.size, r_, in_.in}));
    });
    return rows;
  }

  Enclosures grad_x() const { return product(up(), in_.a, {in_.rows, r_ * parts_, in_.in}); }

  Enclosures grad_a() const {
    need_x();
    return product(transposed(up(), r_ * parts_), in_.x, {r_ * parts_, in_.rows, in_.in});
  }

  Enclosures grad_b() const {
    const Enclosures low = down();
    const std::vector<double> grad = gradient();
    Enclosures rows;
    for_each_part([&](const Part& p) {
      const Enclosures left = transposed(columns(low, r_ * parts_, p.ordinal * r_, r_), r_);
      append(rows, transposed(product(left, columns(grad, enabled_, p.first, p.size), {r_, in_.rows, p.size}), p.size));
    });
    return rows;
  }

  Enclosures linear() const {
    need_x();
    require("weight", in_.weight, out_ * in_.in);
    Enclosures y = product(in_.x, transposed(in_.weight, in_.in), {in_.rows, in_.in, out_});
    if (in_.bias.empty()) return y;
    require("bias", in_.bias, out_);
    for (std::size_t i = 0; i < y.size(); ++i) put(y, i, sum(at(y, i), {in_.bias[i % size(out_)], 0, 0}));
    return y;
  }

  Enclosures linear_gradient() const {
    need_gradient();
    require("weight", in_.weight, out_ * in_.in);
    return product(in_.grad_output, in_.weight, {in_.rows, out_, in_.in});
  }

 private:
  struct Part {
    std::int64_t ordinal, first, size;  // among the enabled parts; columns of the enabled ones
  };

  template <class Function>
  void for_each_part(const Function& f) const {
    Part p = {0, 0, 0};
    for (int part = 0; part < 3; ++part) {
      if (!map_.enable[part]) continue;
      p.size = map_.size(part);
      f(p);
      ++p.ordinal;
      p.first += p.size;
    }
  }

  // f(part, its r columns of low) gives [rows, size of the part]; all of them side by side.
  template <class Function>
  Enclosures stacked_columns(const Enclosures& low, const Function& f) const {
    Enclosures columns_first;
    for_each_part([&](const Part& p) {
      append(columns_first, transposed(f(p, columns(low, r_ * parts_, p.ordinal * r_, r_)), p.size));
    });
    return transposed(columns_first, in_.rows);
  }

  // x A^T, [rows, r * parts].
  Enclosures down() const {
    need_x();
    need_a_b();
    return product(in_.x, transposed(in_.a, in_.in), {in_.rows, in_.in, r_ * parts_});
  }

  // The gradient of that, without gamma: G_j B_j side by side, [rows, r * parts].
  Enclosures up() const {
    need_a_b();
    const std::vector<double> grad = gradient();
    Enclosures columns_first;
    for_each_part([&](const Part& p) {
      append(columns_first,
             transposed(product(columns(grad, enabled_, p.first, p.size), b_of(p), {in_.rows, p.size, r_}), r_));
    });
    return transposed(columns_first, in_.rows);
  }

  // The enabled columns of grad_output, [rows, E].
  std::vector<double> gradient() const {
    need_gradient();
    std::vector<double> g;
    g.reserve(size(in_.rows * enabled_));
    for (std::int64_t row = 0; row < in_.rows; ++row)
      for (const std::int64_t column : index_) g.push_back(in_.grad_output[size(row * out_ + column)]);
    return g;
  }

  Numbers b_of(const Part& p) const { return in_.b.subspan(size(p.first * r_), size(p.size * r_)); }

  void need_x() const { require("x", in_.x, in_.rows * in_.in); }
  void need_gradient() const { require("grad_output", in_.grad_output, in_.rows * out_); }
  void need_a_b() const {
    require("a", in_.a, r_ * parts_ * in_.in);
    require("b", in_.b, enabled_ * r_);
  }

  const LoraMap& map_;
  const LoraInputs& in_;
  std::int64_t r_, out_, enabled_, parts_;
  std::vector<std::int64_t> index_;
};

Enclosures scaled(Enclosures values, const LoraScale& scale_of_update) {
  scale(values, enclosed(scale_of_update));
  return values;
}

Enclosures padded(const LoraProblem& p, const Update& update) {
  const LoraInputs& in = p.inputs;
  if (!in.delta.empty()) {
    require("delta", in.delta, in.rows * p.map.enabled(), false);
    return pad(p.map, exactly(in.delta));
  }
  if (p.map.parts() == 0) return exactly(std::vector<double>(size(in.rows * p.map.out())));
  return pad(p.map, scaled(update.delta(), p.scale));
}

Enclosures output(const LoraProblem& p, const Update& update) {
  Enclosures y = update.linear();
  if (!p.inputs.padded.empty()) {
    require("padded", p.inputs.padded, p.inputs.rows * p.map.out(), false);
    add(y, exactly(p.inputs.padded));
  } else if (p.map.parts() != 0) {
    add(y, padded(p, update));
  }
  return y;
}

Enclosures merged(const LoraProblem& p, const Update& update) {
  require("weight", p.inputs.weight, p.map.out() * p.inputs.in);
  Enclosures w = exactly(p.inputs.weight);
  if (p.map.parts() == 0) return w;
  const Enclosures change = scaled(update.weight_delta(), p.scale);
  const std::vector<std::int64_t> index = lora_index(p.map);
  const std::size_t width = size(p.inputs.in);
  for (std::size_t e = 0; e < index.size(); ++e) {
    const std::size_t to = size(index[e]) * width, from = e * width;
    for (std::size_t c = 0; c < width; ++c) put(w, to + c, sum(at(w, to + c), at(change, from + c)));
  }
  return w;
}

Enclosures gradient_of_x(const LoraProblem& p, const Update& update) {
  Enclosures g = update.linear_gradient();
  if (p.map.parts() != 0) add(g, scaled(update.grad_x(), p.scale));
  return g;
}

}  // namespace

Enclosures lora_enclosures(LoraStage stage, const LoraProblem& p) {
  const Update update(p);
  switch (stage) {
    case LoraStage::padded:
      return padded(p, update);
    case LoraStage::output:
      return output(p, update);
    case LoraStage::merged:
      return merged(p, update);
    case LoraStage::grad_x:
      return gradient_of_x(p, update);
    default:
      break;
  }
  if (p.map.parts() == 0) return {};
  return scaled(stage == LoraStage::delta          ? update.delta()
                : stage == LoraStage::weight_delta ? update.weight_delta()
                : stage == LoraStage::grad_lora_a  ? update.grad_a()
                                                   : update.grad_b(),
                p.scale);
}

}  // namespace ropewalk::reference
