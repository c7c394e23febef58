#include "harness/checks/whole_accuracy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/checks/statistics.hpp"
#include "harness/subjects/table_stages.hpp"
#include "reference/certify.hpp"

namespace ropewalk {
namespace {

using reference::Format;

Format format_or_double(DType dtype) { return is_floating(dtype) ? format_of(dtype) : Format::float64; }

// |got - exact|; infinite if only one of them is a number.
double distance(double got, const reference::Enclosures& exact, std::size_t i) {
  const double d = std::fabs((got - exact.head[i]) - exact.tail[i]);
  const bool same_special =
      !std::isfinite(got) && (got == exact.head[i] || (std::isnan(got) && std::isnan(exact.head[i])));
  if (same_special) return 0;
  return std::isnan(d) ? HUGE_VAL : d;
}

double nearest_in(Format format, const reference::Enclosures& exact, std::size_t i) {
  return reference::round_within(exact.head[i], exact.tail[i], exact.bound[i], format).value_or(exact.head[i]);
}

// A limit that is NaN (of a row that is NaN throughout) allows no error.
double ratio(double error, double limit) {
  if (error == 0) return 0;
  return error <= limit ? (limit > 0 ? error / limit : 0) : limit > 0 ? error / limit : HUGE_VAL;
}

std::size_t columns_of(const Shape& shape) {
  return shape.empty() ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(shape.back(), 1));
}

Worst element(std::size_t i, std::size_t columns, double got, double expected) {
  const auto row = static_cast<std::int64_t>(i / columns), column = static_cast<std::int64_t>(i % columns);
  return {row, column, row, got, expected};
}

void count_special(const std::vector<double>& values, std::size_t side, Measured& measured) {
  for (const double v : values) {
    measured.nan[side] += std::isnan(v);
    measured.inf[side] += std::isinf(v);
  }
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

void check_form(const LookedAt& stage, DType dtype, const Result& result) {
  const bool index = result.stage == "lora_index";
  const DType accepted = index ? DType::int64 : stage.limits.dtype;
  if (stage.tensor.dtype() != accepted)
    throw SubjectError(fmt::format(
        "{} is {}; accepted: {}, the dtype {}", result.stage, name_of(stage.tensor.dtype()), name_of(accepted),
        index || accepted == dtype ? "of the case" : "that the steps of the claimed recipe give it"));
  if (result.stage != "lora_index" && stage.tensor.shape() != stage.total->shape)
    throw SubjectError(fmt::format("{} has shape {}; accepted: {}", result.stage, shape_text(stage.tensor.shape()),
                                   shape_text(stage.total->shape)));
}

void judge_index(const LookedAt& stage, Result& result) {
  if (stage.tensor.empty()) {
    result.measured.compared = stage.total->values.size();
    result.verdict = Verdict::fail;
    result.reason = "on the meta device: it was never materialised";
    return;
  }
  const auto got = stage.tensor.as<std::int64_t>();
  const auto& exact = stage.total->values.head;
  result.measured.compared = static_cast<std::int64_t>(exact.size());
  for (std::size_t i = 0; i < exact.size() && i < got.size(); ++i)  // of other lengths the rows say it all
    result.measured.mismatched += static_cast<double>(got[i]) != exact[i];
  result.reason = index_difference(stage.tensor, *stage.total);
  if (!result.reason.empty()) result.verdict = Verdict::fail;
}

// Beyond the probabilistic bound nothing is proved, but something is likely to be wrong.
void look_at_probable(const std::vector<double>& got, const LookedAt& stage, Result& result) {
  double worst = 0;
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double by = ratio(distance(got[i], stage.local.values, i), stage.limits.probable[i]);
    worst = std::max(worst, by);
    beyond += by > 1;
  }
  auto& out = result.details["probabilistic"];
  out["ratio"] = worst;
  out["beyond"] = beyond;
  out["lambda"] = kLambda;
  out["formula"] = "as the limit, with lambda sqrt(n) u for sums of n products where that is less than n u";
  out["source"] = "Higham and Mary 2019, theorem 3.1";
  if (beyond > 0 && result.verdict == Verdict::pass)
    out["warning"] =
        fmt::format("{} of {} elements are further off than roundings of mean zero ever are", beyond, got.size());
}

}  // namespace

std::string index_difference(const Tensor& index, const StageTruth& exact) {
  const auto got = index.as<std::int64_t>();
  const std::set<std::int64_t> have(got.begin(), got.end()), want(exact.values.head.begin(), exact.values.head.end());
  std::vector<std::int64_t> missing, extra;
  std::set_difference(want.begin(), want.end(), have.begin(), have.end(), std::back_inserter(missing));
  std::set_difference(have.begin(), have.end(), want.begin(), want.end(), std::back_inserter(extra));
  std::vector<std::string> parts;
  const auto rows = [](const std::vector<std::int64_t>& list) {
    const std::size_t shown = std::min<std::size_t>(list.size(), 16);
    const std::vector<std::int64_t> head(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown));
    return fmt::format("{{{}{}}}", fmt::join(head, ", "), shown < list.size() ? ", ..." : "");
  };
  if (!missing.empty()) parts.push_back("missing " + rows(missing));
  if (!extra.empty()) parts.push_back("extra " + rows(extra));
  if (have.size() != got.size()) parts.push_back(fmt::format("{} rows twice", got.size() - have.size()));
  std::vector<std::int64_t> moved;
  for (std::size_t i = 0; i < got.size() && i < exact.values.size() && parts.empty(); ++i)
    if (static_cast<double>(got[i]) != exact.values.head[i]) moved.push_back(got[i]);
  if (!moved.empty()) parts.push_back(fmt::format("{} rows in another order: {}", moved.size(), rows(moved)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool local_failed(const LookedAt& stage) {
  if (stage.tensor.empty() || stage.tensor.shape() != stage.total->shape) return true;
  const std::vector<double> got = to_doubles(stage.tensor);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (ratio(distance(got[i], stage.local.values, i), stage.limits.local[i]) > 1) return true;
  return false;
}

void judge_accuracy(const LookedAt& stage, DType dtype, const std::optional<UserLimit>& user, Result& result) {
  result.stage_dtype = std::string(name_of(stage.tensor.dtype()));
  result.verdict = Verdict::pass;
  check_form(stage, dtype, result);
  if (result.stage == "lora_index") return judge_index(stage, result);
  const std::vector<double> got = to_doubles(stage.tensor);
  const Format format = format_or_double(stage.tensor.dtype());
  const std::size_t columns = columns_of(stage.tensor.shape());
  const StageTruth& total = *stage.total;
  Statistics statistics;
  AccuracyError error;
  std::int64_t mismatched = 0;
  double worst_ratio = -1;
  std::size_t worst = 0;
  bool local_decides = true;
  const bool wider = stage.tensor.dtype() != dtype;
  std::vector<double> difference(columns), ulps(columns);
  const auto grow = [](ErrorSize& size, double abs, double ulp) {
    size.max_abs = std::max(size.max_abs, abs);
    size.max_ulp = std::max(size.max_ulp, ulp);
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double ulp = reference::ulp(total.values.head[i], format);
    const double off = distance(got[i], total.values, i), local = distance(got[i], stage.local.values, i);
    const double inherited = distance(stage.local.values.head[i], total.values, i);
    grow(error.total, off, off / ulp);
    grow(error.local, local, local / ulp);
    grow(error.inherited, inherited, inherited / ulp);
    const double nearest = wider ? nearest_in(format, total.values, i) : total.nearest[i];
    mismatched += !(got[i] == nearest || (std::isnan(got[i]) && std::isnan(nearest)));
    const double limit = !user ? stage.limits.total[i] : user->unit == "abs" ? user->value : user->value * ulp;
    const double by_local = user ? 0 : ratio(local, stage.limits.local[i]), by_total = ratio(off, limit);
    if (std::max(by_local, by_total) > worst_ratio) {
      worst_ratio = std::max(by_local, by_total);
      worst = i;
      local_decides = by_local >= by_total;
    }
    const double signed_off = (got[i] - total.values.head[i]) - total.values.tail[i];
    difference[i % columns] = std::isfinite(signed_off) ? signed_off : off;
    ulps[i % columns] = off / ulp;
    if (i % columns == columns - 1) statistics.add(static_cast<std::int64_t>(i / columns), difference, ulps);
  }
  result.measured = statistics.result();
  result.measured.mismatched = mismatched;
  count_special(got, 0, result.measured);
  count_special(total.values.head, 1, result.measured);
  if (got.empty()) return;
  result.error = error;
  const StageTruth& decides = local_decides ? stage.local : total;
  result.worst = element(worst, columns, got[worst], decides.values.head[worst]);
  if (user) {
    result.total_limit = Limit{user->value, user->unit, "the user's own", user->source};
  } else {
    result.local_limit = Limit{stage.limits.local[worst], "abs", stage.limits.formula, stage.limits.source};
    result.total_limit = Limit{stage.limits.total[worst], "abs", stage.limits.formula, stage.limits.source};
  }
  if (std::isfinite(worst_ratio)) result.margin = worst_ratio;
  if (worst_ratio > 1) result.verdict = Verdict::fail;
  if (!user && !stage.limits.probable.empty()) look_at_probable(got, stage, result);
  if (result.measured.nan[0] > 0 && result.verdict == Verdict::pass) untrusted(result, "NaN on both sides");
  if (result.verdict == Verdict::pass && all_zero(got)) untrusted(result, "all zeros on both sides");
}

void judge_two(const Tensor& a, const Tensor& b, const StageTruth& exact, const std::vector<WholeLimits>& limits,
               Result& result) {
  result.verdict = Verdict::pass;
  result.stage_dtype = std::string(name_of(a.dtype()));
  const bool bits = limits.empty();
  if (bits) result.local_limit = Limit{0, "bits", "bit identity", "the case"};
  const auto fail = [&](const std::string& why) {
    result.verdict = Verdict::fail;
    result.reason = why;
  };
  if (a.empty() || b.empty()) return fail("on the meta device: it was never materialised");
  if (a.shape() != b.shape())
    return fail("the shapes differ: " + shape_text(a.shape()) + " and " + shape_text(b.shape()));
  if (a.dtype() != b.dtype()) {
    result.stage_dtype += " and " + std::string(name_of(b.dtype()));
    return fail("the dtypes differ: " + result.stage_dtype);
  }
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  const Format format = format_or_double(a.dtype());
  const std::size_t columns = columns_of(a.shape());
  Statistics statistics;
  std::vector<double> difference(columns), ulps(columns);
  double closest[2] = {0, 0}, worst_ratio = -1;
  std::int64_t mismatched = 0;
  std::size_t worst = 0;
  const bool comparable = exact.values.size() == x.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]);
    mismatched += !same;
    const double d = same ? 0 : x[i] - y[i];
    difference[i % columns] = std::isfinite(d) ? d : HUGE_VAL;
    ulps[i % columns] = std::fabs(difference[i % columns]) / reference::ulp(y[i], format);
    if (comparable) {
      closest[0] = std::max(closest[0], distance(x[i], exact.values, i));
      closest[1] = std::max(closest[1], distance(y[i], exact.values, i));
    }
    double allowed = 0;
    for (const WholeLimits& limit : limits) allowed += limit.total[i];
    const double r =
        bits ? std::fabs(difference[i % columns]) + (same ? 0 : 1) : ratio(std::fabs(difference[i % columns]), allowed);
    if (r > worst_ratio) {
      worst_ratio = r;
      worst = i;
    }
    if (i % columns == columns - 1) statistics.add(static_cast<std::int64_t>(i / columns), difference, ulps);
  }
  result.measured = statistics.result();
  result.measured.mismatched = mismatched;
  count_special(x, 0, result.measured);
  count_special(y, 1, result.measured);
  if (x.empty()) return;
  if (mismatched > 0) {
    result.worst = element(worst, columns, x[worst], y[worst]);
    const std::size_t near = closest[0] <= closest[1] ? 0 : 1;
    if (comparable)
      result.closer =
          Closer{closest[0] == closest[1] ? "neither" : result.subjects.at(near).name, {closest[0], closest[1]}};
  }
  if (!bits) {
    double allowed = 0;
    for (const WholeLimits& limit : limits) allowed += limit.total[worst];
    result.total_limit =
        Limit{allowed, "abs", "the sum of what both may be off by: " + limits[0].formula, limits[0].source};
    result.margin = worst_ratio;
  }
  if (result.measured.nan[0] + result.measured.nan[1] > 0) return fail("NaN, which equals nothing");
  if (bits ? mismatched > 0 : worst_ratio > 1) return fail({});
  if (all_zero(x) && result.stage != "lora_index") untrusted(result, "all zeros on both sides");
}

}  // namespace ropewalk
