#include "harness/checks/lora_invariants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reference/lora.hpp"

namespace ropewalk {
namespace {

std::string index_faults(const Tensor& index, const Lora& lora, nlohmann::ordered_json& details) {
  const auto rows = index.as<std::int64_t>();
  std::int64_t outside = 0;
  for (const std::int64_t row : rows) outside += row < 0 || row >= lora.out_size();
  const std::set<std::int64_t> distinct(rows.begin(), rows.end());
  details["rows"] = rows.size();
  details["out_of_range"] = outside;
  details["repeated"] = rows.size() - distinct.size();
  if (outside > 0) return fmt::format("{} of {} rows are outside 0..{}", outside, rows.size(), lora.out_size() - 1);
  if (distinct.size() != rows.size()) return "no permutation: rows are repeated";
  return {};
}

// Columns that the update does not reach, and the sign of their zeros.
std::string padding_faults(const Tensor& padded, const Whole& whole, const Lora& lora,
                           nlohmann::ordered_json& details) {
  const auto index = whole.stages.find("lora_index");
  std::set<std::int64_t> reached;
  if (index != whole.stages.end() && !index->second.empty() && index->second.dtype() == DType::int64) {
    const auto rows = index->second.as<std::int64_t>();
    reached.insert(rows.begin(), rows.end());
  }
  const std::vector<double> values = to_doubles(padded);
  const std::int64_t out = lora.out_size();
  std::int64_t not_zero = 0, negative = 0, zeros = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (reached.contains(static_cast<std::int64_t>(i) % out)) continue;
    not_zero += values[i] != 0;
    negative += values[i] == 0 && std::signbit(values[i]);
    zeros += values[i] == 0;
  }
  details["padding"] = {{"zeros", zeros}, {"negative_zeros", negative}, {"not_zero", not_zero}};
  return not_zero > 0 ? fmt::format("{} padded elements are not zero", not_zero) : "";
}

// x W_merged^T + bias, in float64, against the exact output: merged and unmerged must say the same, within what the
// merged weight may be off by.
std::string forward_fault(const std::vector<double>& merged, const Stages& inputs, const Lora& lora,
                          const std::vector<double>& limits, const StageTruth& output,
                          nlohmann::ordered_json& details) {
  const std::vector<double> x = to_doubles(inputs.at("x"));
  const std::vector<double> bias = lora.bias ? to_doubles(inputs.at("bias")) : std::vector<double>{};
  const auto in = static_cast<std::size_t>(lora.embedding), out = static_cast<std::size_t>(lora.out_size());
  double largest = 0, nearest = 0;
  for (std::size_t row = 0; row < x.size() / in; ++row) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = lora.bias ? bias[o] : 0, allowed = 0, sizes = std::fabs(sum);
      for (std::size_t i = 0; i < in; ++i) {
        sum += x[row * in + i] * merged[o * in + i];
        sizes += std::fabs(x[row * in + i] * merged[o * in + i]);
        allowed += std::fabs(x[row * in + i]) * limits[o * in + i];
      }
      allowed += static_cast<double>(in + 1) * 0x1.1p-53 * sizes;  // of this sum itself
      const double off = std::fabs(sum - output.values.head[row * out + o]);
      largest = std::max(largest, off);
      nearest = std::max(nearest, off / std::max(allowed, 0x1p-1022));
    }
  }
  details["merged_forward"] = {{"max_abs", largest}, {"of_allowed", nearest}};
  return nearest > 1 ? fmt::format("the merged weight gives another output, {:.3g} times what is allowed", nearest)
                     : "";
}

// How many elements W + D - D, rounded to the dtype each time, changes in the first cycle and in 99 more; with one D,
// and with a D that grows by an eighth each time. Two IEEE operations an element, done here and not by the subject.
nlohmann::ordered_json cycles(const std::vector<double>& weight, const StageTruth& merged, DType dtype) {
  const auto format = format_of(dtype);
  const auto change = [&](int cycle) {
    std::vector<double> d(weight.size());
    for (std::size_t i = 0; i < d.size(); ++i)
      d[i] = ((merged.values.head[i] - weight[i]) + merged.values.tail[i]) * (1 + 0.125 * cycle);
    return to_doubles(from_doubles(dtype, merged.shape, d));
  };
  const auto differing = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < a.size(); ++i) n += a[i] != b[i];
    return n;
  };
  nlohmann::ordered_json out{{"elements", weight.size()}};
  for (const bool fixed : {true, false}) {
    const auto first = reference::merge_and_unmerge(format, weight, change(0));
    auto last = first;
    for (int cycle = 1; cycle < 100; ++cycle)
      last = reference::merge_and_unmerge(format, last, change(fixed ? 0 : cycle));
    out[fixed ? "fixed_delta" : "growing_delta"] = {{"changed_by_first_cycle", differing(weight, first)},
                                                    {"changed_by_99_more", differing(first, last)}};
  }
  return out;
}

}  // namespace

void judge_lora_invariants(const Case& problem, const Whole& whole, const Whole& again, const Stages& inputs,
                           const StageTruth& exact, const std::vector<double>& limits, const StageTruth& output,
                           Result& result) {
  const Tensor& tensor = whole.stages.at(result.stage);
  const Lora& lora = *problem.lora;
  result.verdict = Verdict::pass;
  result.stage_dtype = std::string(name_of(tensor.dtype()));
  result.measured.compared = tensor.size();
  result.local_limit = Limit{0, "count", "invariants that are broken", "docs/numerics.md, Invariants"};
  std::vector<std::string> broken;
  const auto add = [&](const std::string& why) {
    if (!why.empty()) broken.push_back(why);
  };
  if (!whole.notes.empty()) {
    std::vector<std::string> notes;
    for (const std::string& note : whole.notes)
      if (note.starts_with(result.stage + " ")) notes.push_back(note);
    if (!notes.empty()) result.details["notes"] = notes;
  }
  if (tensor.empty()) {
    add("on the meta device: it was never materialised");
  } else {
    const DType accepted = result.stage == "lora_index" ? DType::int64 : problem.dtype;
    if (tensor.dtype() != accepted) add(fmt::format("it is {}, not {}", name_of(tensor.dtype()), name_of(accepted)));
    for (const double v : to_doubles(tensor)) result.measured.nan[0] += std::isnan(v);
    if (result.measured.nan[0] > 0) add(fmt::format("{} elements are NaN", result.measured.nan[0]));
    if (result.stage == "lora_index" && tensor.dtype() == DType::int64) add(index_faults(tensor, lora, result.details));
    if (result.stage == "lora_padded") add(padding_faults(tensor, whole, lora, result.details));
    if (result.stage == "lora_merged" && tensor.shape() == exact.shape)
      add(forward_fault(to_doubles(tensor), inputs, lora, limits, output, result.details));
    if (result.stage == "lora_merged")
      result.details["merge_cycles"] = cycles(to_doubles(inputs.at("weight")), exact, problem.dtype);
    const auto other = again.stages.find(result.stage);
    if (other == again.stages.end() || !same_bits(tensor, other->second)) add("made again it has other bits");
  }
  for (const ModuleTensor& held : whole.module)
    if (held.device == "meta") add("the module's " + held.name + " is still on the meta device");
  for (const std::string& name : whole.changed_inputs) add("it wrote into its input " + name);
  if (broken.empty()) return;
  result.verdict = Verdict::fail;
  result.reason = fmt::format("{}", fmt::join(broken, "; "));
}

}  // namespace ropewalk
