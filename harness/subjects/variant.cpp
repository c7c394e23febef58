#include "harness/subjects/variant.hpp"

#include <algorithm>
#include <cmath>

#include "harness/cases/inputs.hpp"
#include "harness/tensors/axes.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kPadding = 3, kShift = 64;

bool is_score_like(const std::string& name) { return name == "scores" || name == "probabilities"; }
bool is_vectors(const std::string& name) {
  return name == "q" || name == "k" || name == "v" || name.starts_with("grad");
}
bool is_mask(const std::string& name) { return name == "mask" || name == "allowed"; }
bool is_query_like(const std::string& name) {
  return name == "q" || name == "grad_output" || name == "grad_rotated_q" || name == "output" || name == "rotated_q" ||
         name == "grad_q";
}
bool of_table(const std::string& name) {
  const auto table = stages_of(Kind::table);
  return std::find(table.begin(), table.end(), name) != table.end();
}

Positions listed(std::vector<std::int64_t> positions) { return {0, std::move(positions)}; }

Presented entry_of(const Case& problem, const Stages& inputs, std::int64_t batch) {
  Presented out{problem, inputs};
  out.problem.attention->batch = 1;
  for (auto& [name, tensor] : out.inputs)
    if (is_vectors(name)) tensor = slice_along(tensor, 0, batch, 1);
  return out;
}

// Query i with keys 0 .. its own: what a cache holds when it is decoded.
Presented query_alone(const Case& problem, const Stages& inputs, std::int64_t query) {
  const std::int64_t own = problem.attention->shift(problem.positions.count()) + query;
  Presented out{problem, inputs};
  std::vector<std::int64_t> positions = problem.positions.all();
  positions.resize(static_cast<std::size_t>(own) + 1);
  out.problem.positions = listed(std::move(positions));
  out.problem.attention->q_len = 1;
  out.problem.attention->offset = own;
  out.problem.attention->causal = "offset";
  for (auto& [name, tensor] : out.inputs) {
    if (is_mask(name)) tensor = slice_along(slice_along(tensor, 0, query, 1), 1, 0, own + 1);
    if (is_vectors(name))
      tensor = is_query_like(name) ? slice_along(tensor, 1, query, 1) : slice_along(tensor, 1, 0, own + 1);
  }
  return out;
}

Tensor filled(DType dtype, Shape shape, double value) {
  const std::vector<double> values(static_cast<std::size_t>(element_count(shape)), value);
  return from_doubles(dtype, std::move(shape), values);
}

// The padded keys hold large numbers: what leaks from them shows.
Presented with_padding(const Case& problem, const Stages& inputs) {
  Presented out{problem, inputs};
  Attention& a = *out.problem.attention;
  const std::int64_t keys = problem.positions.count();
  std::vector<std::int64_t> positions = problem.positions.all();
  for (std::int64_t i = 1; i <= kPadding; ++i) positions.push_back(problem.positions.largest() + i);
  out.problem.positions = listed(std::move(positions));
  a.q_len = a.queries(keys);
  a.offset = problem.attention->first_query(keys);
  if (a.causal == "bottom_right") a.causal = "offset";
  const double hides = a.fully_masked == "mean" ? least(problem.dtype) : -HUGE_VAL;
  for (auto& [name, tensor] : out.inputs) {
    if (is_mask(name)) {
      Tensor more = name == "allowed" ? Tensor(DType::boolean, {tensor.shape()[0], kPadding})
                                      : filled(problem.dtype, {tensor.shape()[0], kPadding}, hides);
      tensor = concat_along({tensor, more}, 1);
    } else if (is_vectors(name) && !is_query_like(name)) {
      Shape shape = tensor.shape();
      shape[1] = kPadding;
      tensor = concat_along({tensor, filled(problem.dtype, shape, name.starts_with("grad") ? 0 : 100)}, 1);
    }
  }
  return out;
}

Presented as_one_sequence(const Case& problem, const Stages& inputs) {
  Presented out{problem, inputs};
  Attention& a = *out.problem.attention;
  const std::int64_t batch = a.batch, keys = problem.positions.count();
  std::vector<std::int64_t> positions;
  for (std::int64_t b = 0; b < batch; ++b)
    for (const std::int64_t p : problem.positions.all()) positions.push_back(p);
  out.problem.positions = listed(std::move(positions));
  a.batch = 1;
  for (auto& [name, tensor] : out.inputs) {
    Shape shape = tensor.shape();
    if (is_vectors(name)) tensor = copy_of(tensor).reshaped({1, batch * keys, shape[2], shape[3]});
    if (!is_mask(name)) continue;
    const double hides = a.fully_masked == "mean" ? least(problem.dtype) : -HUGE_VAL;
    const Tensor other =
        name == "allowed" ? Tensor(DType::boolean, {keys, keys}) : filled(problem.dtype, {keys, keys}, hides);
    std::vector<Tensor> rows;
    for (std::int64_t b = 0; b < batch; ++b) {
      std::vector<Tensor> blocks(static_cast<std::size_t>(batch), other);
      blocks[static_cast<std::size_t>(b)] = tensor;
      rows.push_back(concat_along(blocks, 1));
    }
    tensor = concat_along(rows, 0);
  }
  return out;
}

Presented further_on(const Case& problem, const Stages& inputs) {
  std::vector<std::int64_t> positions = problem.positions.all();
  for (std::int64_t& p : positions) p += kShift;
  Presented out{problem, inputs};
  out.problem.positions = listed(std::move(positions));
  return out;
}

// Pair j's channels are 2j and 2j + 1 in one order, j and j + width/2 in the other.
Presented in_other_order(const Case& problem, const Stages& inputs) {
  Presented out{problem, inputs};
  std::string& pairing = out.problem.attention->pairing;
  const bool from_interleaved = pairing == "interleaved";
  pairing = from_interleaved ? "half_split" : "interleaved";
  const auto dim = static_cast<std::size_t>(problem.rope.head_dim),
             width = static_cast<std::size_t>(problem.rope.rotary_dim());
  for (const char* name : {"q", "k"}) {
    const std::vector<double> from = to_doubles(out.inputs.at(name));
    std::vector<double> to = from;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t c = i % dim;
      if (c >= width) continue;
      const std::size_t split = c % 2 * (width / 2) + c / 2;  // of channel c of interleaved pairs
      if (from_interleaved)
        to[i - c + split] = from[i];
      else
        to[i] = from[i - c + split];
    }
    out.inputs[name] = from_doubles(problem.dtype, out.inputs.at(name).shape(), to);
  }
  return out;
}

class VariantSubject final : public Subject {
 public:
  VariantSubject(std::string variant, std::unique_ptr<Subject> inner)
      : variant_(std::move(variant)), inner_(std::move(inner)) {}

  void prepare(const Case& problem) override { inner_->prepare(problem); }
  Stages rows(std::int64_t, std::int64_t) override { throw SubjectUnsupported("variants are of attention only"); }

  Whole whole(const Case& problem, const Stages& inputs) override {
    Whole out;
    std::vector<Stages> pieces;
    for (const Presented& presented : present(variant_, problem, inputs)) {
      Whole whole = inner_->whole(presented.problem, presented.inputs);
      out.failed.insert(whole.failed.begin(), whole.failed.end());
      pieces.push_back(std::move(whole.stages));
    }
    out.stages = gathered(variant_, problem, pieces);
    return out;
  }

  SubjectInfo info() const override {
    SubjectInfo info = inner_->info();
    info.variant = variant_;
    return info;
  }
  std::int64_t undetermined() const override { return inner_->undetermined(); }

 private:
  std::string variant_;
  std::unique_ptr<Subject> inner_;
};

}  // namespace

std::vector<Presented> present(const std::string& variant, const Case& problem, const Stages& inputs) {
  const Attention& a = *problem.attention;
  const std::int64_t keys = problem.positions.count(), queries = a.queries(keys);
  std::vector<Presented> out;
  if (!problem.positions.axes.empty() && variant != "single")
    throw SubjectUnsupported("with positions on several axes there is no variant but single");
  if (variant == "single") {
    for (std::int64_t b = 0; b < a.batch; ++b) out.push_back(entry_of(problem, inputs, b));
  } else if (variant == "decode") {
    if (a.causal == "none" || a.shift(keys) != a.first_query(keys))
      throw SubjectUnsupported("queries are decoded one after the other only where each sees the keys up to its own");
    for (std::int64_t i = 0; i < queries; ++i) out.push_back(query_alone(problem, inputs, i));
  } else if (variant == "padded") {
    if (a.causal == "bottom_right" && a.shift(keys) != a.first_query(keys))
      throw SubjectUnsupported("more keys move a mask that is aligned at the bottom right");
    out.push_back(with_padding(problem, inputs));
  } else if (variant == "packed") {
    if (a.batch == 1 || queries != keys)
      throw SubjectUnsupported("only several sequences without a cache are packed into one");
    out.push_back(as_one_sequence(problem, inputs));
  } else {
    out.push_back(variant == "shifted" ? further_on(problem, inputs) : in_other_order(problem, inputs));
  }
  return out;
}

Stages gathered(const std::string& variant, const Case& problem, const std::vector<Stages>& pieces) {
  const Attention& a = *problem.attention;
  const std::int64_t keys = problem.positions.count();
  Stages out;
  for (const auto& [name, first] : pieces.front()) {
    if (of_table(name)) continue;
    std::vector<Tensor> parts;
    for (const Stages& piece : pieces) parts.push_back(piece.at(name));
    if (variant == "single") {
      out[name] = concat_along(parts, 0);
    } else if (variant == "decode") {
      if (is_query_like(name)) out[name] = concat_along(parts, 1);
    } else if (variant == "padded") {
      out[name] = is_query_like(name) ? first : slice_along(first, is_score_like(name) ? 3 : 1, 0, keys);
    } else if (variant == "packed") {
      const Shape& shape = first.shape();
      if (!is_score_like(name)) out[name] = copy_of(first).reshaped({a.batch, keys, shape[2], shape[3]});
    } else if (name == "output" || is_score_like(name)) {
      out[name] = first;
    }
  }
  return out;
}

bool has_own_limits(const std::string& variant) { return variant == "shifted" || variant == "permuted"; }

std::unique_ptr<Subject> make_variant_subject(const std::string& variant, std::unique_ptr<Subject> inner) {
  return std::make_unique<VariantSubject>(variant, std::move(inner));
}

}  // namespace ropewalk
