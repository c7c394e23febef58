#include "harness/checks/attention_causes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "harness/cases/inputs.hpp"
#include "harness/checks/score_truth.hpp"

namespace ropewalk {
namespace {

constexpr double kNegligible = 1e-3;  // a probability that a subject may have lost to underflow

using Rows = std::vector<std::vector<std::int64_t>>;  // of each query of the first head: the keys that it sees

// Empty where the stage's numbers do not tell.
std::optional<Rows> keys_seen(const FailingAttention& f, const std::vector<double>& values, bool exact) {
  const AttentionSizes n = sizes_of(f.problem);
  const bool output = f.stage == "output";
  if (output && f.problem.attention->inputs != "visible") return {};
  Rows rows(static_cast<std::size_t>(n.queries));
  for (std::int64_t i = 0; i < n.queries; ++i) {
    for (std::int64_t j = 0; j < n.keys; ++j) {
      const double x = values[static_cast<std::size_t>(output ? i * n.heads * n.dim + j : i * n.keys + j)];
      if (std::isnan(x)) return {};
      const double least_seen = f.stage == "scores" ? least(f.problem.dtype) / 2 : exact && !output ? kNegligible : 0;
      if (x > least_seen) rows[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return rows;
}

std::string text_of(const std::vector<std::int64_t>& keys) {
  std::vector<std::string> runs;
  for (std::size_t first = 0, next = 0; first < keys.size(); first = next) {
    for (next = first + 1; next < keys.size() && keys[next] == keys[next - 1] + 1; ++next) continue;
    runs.push_back(next == first + 1 ? std::to_string(keys[first]) : fmt::format("{}-{}", keys[first], keys[next - 1]));
  }
  return runs.empty() ? "none" : fmt::format("{}", fmt::join(runs, ","));
}

std::string text_of(const Rows& rows) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < rows.size() && i < 8; ++i) texts.push_back(text_of(rows[i]));
  return fmt::format("{}{}", fmt::join(texts, "; "), rows.size() > 8 ? "; ..." : "");
}

std::string seen_otherwise(const FailingAttention& f, const std::vector<double>& got, nlohmann::ordered_json& details) {
  const auto observed = keys_seen(f, got, false), right = keys_seen(f, f.exact.values.head, true);
  if (!observed || !right) return {};
  bool differs = false;
  for (std::size_t i = 0; i < right->size(); ++i) {
    const auto &o = (*observed)[i], &r = (*right)[i];
    // Keys of weights that are nearly zero may be among those seen, and may not.
    const bool tells = f.stage != "probabilities" || f.problem.attention->inputs == "visible";
    differs = differs || (tells ? o != r : !std::includes(o.begin(), o.end(), r.begin(), r.end()));
  }
  if (!differs) return {};
  details["keys_seen"] = {{"observed", *observed}, {"right", *right}};
  return fmt::format("keys seen by each query: {}, right are {}", text_of(*observed), text_of(*right));
}

struct Alternative {
  std::string name;
  Attention attention;
};

std::vector<Alternative> alternatives(const Case& problem) {
  const Attention& a = *problem.attention;
  std::vector<Alternative> out;
  const auto add = [&](const std::string& name, auto change) {
    Alternative other{name, a};
    change(other.attention);
    if (other.attention.causal != a.causal || other.attention.window != a.window ||
        other.attention.softcap != a.softcap || other.attention.scale != a.scale ||
        other.attention.padding != a.padding || other.attention.alibi != a.alibi)
      out.push_back(std::move(other));
  };
  if (a.softcap != 0) add("without the softcap", [](Attention& b) { b.softcap = 0; });
  add("without the scale", [](Attention& b) { b.scale = 1; });
  add("causal from the top left", [](Attention& b) { b.causal = "top_left"; });
  add("causal from the bottom right", [](Attention& b) { b.causal = "bottom_right"; });
  add("without a causal mask", [](Attention& b) { b.causal = "none"; });
  if (a.window > 0) {
    add("with a window of one key more", [](Attention& b) { ++b.window; });
    if (a.window > 1) add("with a window of one key less", [](Attention& b) { --b.window; });
    add("without a window", [](Attention& b) { b.window = 0; });
  }
  add("with no mask at all", [](Attention& b) {
    b.causal = "none";
    b.window = b.padding = 0;
  });
  return out;
}

// The largest difference; infinite if a number stands where none may.
double distance(const std::vector<double>& got, const std::vector<double>& other) {
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == other[i] || (std::isnan(got[i]) && std::isnan(other[i]))) continue;
    const double d = std::fabs(got[i] - other[i]);
    most = std::max(most, std::isnan(d) ? HUGE_VAL : d);
  }
  return most;
}

// Of the alternatives the one that explains the stage best, if it is nearer than what is right.
std::string nearer_to(const FailingAttention& f, const std::vector<double>& got) {
  Stages rotated;
  for (const char* name : {"rotated_q", "rotated_k"})
    if (const auto found = f.observed.find(name); found != f.observed.end()) rotated.insert(*found);
  if (rotated.size() < 2) return {};
  ScoreInputs inputs = score_inputs(f.inputs);
  const auto right = scores_local(f.stage, f.problem, rotated, inputs);
  double least_distance = right ? distance(got, right->values.head) : HUGE_VAL;
  const double of_right = least_distance;
  std::string name;
  for (const Alternative& other : alternatives(f.problem)) {
    Case changed = f.problem;
    changed.attention = other.attention;
    const auto truth = scores_local(f.stage, changed, rotated, inputs);
    const double d = distance(got, truth->values.head);
    if (d >= least_distance) continue;
    least_distance = d;
    name = other.name;
  }
  if (name.empty()) return {};
  return fmt::format("nearer to {} {}: at most {:.3g} off, from the right ones {:.3g}",
                     f.stage == "output" ? "an output" : f.stage, name, least_distance, of_right);
}

std::string rows_without_keys(const FailingAttention& f, const std::vector<double>& got) {
  const AttentionSizes n = sizes_of(f.problem);
  Attention zero = *f.problem.attention;
  zero.fully_masked = "nan";
  Case marked = f.problem;
  marked.attention = zero;
  const Tensor zeros(DType::float64, {n.batch, n.keys, n.heads, n.dim});
  const Tensor queries(DType::float64, {n.batch, n.queries, n.heads, n.dim});
  const auto probabilities =
      scores_local("probabilities", marked, {{"rotated_q", queries}, {"rotated_k", zeros}}, score_inputs(f.inputs));
  const std::size_t width = static_cast<std::size_t>(f.stage == "output" ? n.heads * n.dim : n.keys);
  const auto& marks = probabilities->values.head;
  for (std::int64_t i = 0; i < n.queries; ++i) {
    if (!std::isnan(marks[static_cast<std::size_t>(i * n.keys)])) continue;
    const auto row = std::span(got).subspan(static_cast<std::size_t>(i) * width, width);
    const auto right = std::span(f.exact.values.head).subspan(static_cast<std::size_t>(i) * width, width);
    if (distance({row.begin(), row.end()}, {right.begin(), right.end()}) < kNegligible) continue;
    const bool nan = std::isnan(row[0]), none = row[0] == 0 && row[width - 1] == 0;
    return fmt::format("rows that see no key give {}, where the case says {}",
                       nan    ? "NaN"
                       : none ? "zero"
                              : "numbers",
                       f.problem.attention->fully_masked);
  }
  return {};
}

std::string overflowed(const FailingAttention& f, const std::vector<double>& got) {
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < got.size(); ++i) beyond += std::isinf(got[i]) && std::isfinite(f.exact.values.head[i]);
  if (beyond == 0) return {};
  return fmt::format("{} of {} overflowed {}; none of the right ones does", beyond, got.size(),
                     name_of(f.problem.dtype));
}

std::string comes_back(const FailingAttention& f) {
  const std::string input = f.stage == "rotated_q" ? "q" : "k";
  const Tensor &got = f.observed.at(f.stage), &given = f.inputs.at(input);
  if (to_doubles(got) != to_doubles(given)) return {};
  return "it is its input " + input + ", bit for bit: nothing was rotated";
}

}  // namespace

std::string explain_attention(const FailingAttention& failing, nlohmann::ordered_json& details) {
  const auto found = failing.observed.find(failing.stage);
  if (found == failing.observed.end() || found->second.empty()) return {};
  if (failing.stage.starts_with("rotated")) return comes_back(failing);
  if (!is_score_stage(failing.stage)) return {};
  const std::vector<double> got = to_doubles(found->second);
  if (got.size() != failing.exact.values.size()) return {};
  if (failing.stage != "scores")
    if (std::string rows = rows_without_keys(failing, got); !rows.empty()) return rows;
  const std::string keys = seen_otherwise(failing, got, details), nearer = nearer_to(failing, got);
  if (keys.empty() && nearer.empty()) return overflowed(failing, got);
  return keys + (keys.empty() || nearer.empty() ? "" : "; ") + nearer;
}

}  // namespace ropewalk
