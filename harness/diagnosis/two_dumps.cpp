#include "harness/diagnosis/two_dumps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <numeric>

#include "harness/bad_input.hpp"
#include "harness/checks/identity.hpp"
#include "harness/diagnosis/judge.hpp"
#include "harness/diagnosis/rows.hpp"
#include "harness/diagnosis/text.hpp"
#include "harness/report/numbers.hpp"
#include "harness/subjects/table_stages.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kBlockElements = 32768;  // rows * pairs at a time

SubjectInfo subject_of(const Dump& dump) {
  SubjectInfo info;
  info.name = info.tensors = dump.file;
  return info;
}

// Rows of both at the positions that both have, each position once; of several axes all, where they are the same.
struct CommonRows {
  Positions positions;
  std::vector<std::int64_t> in_a, in_b;
};

CommonRows common_rows(const Positions& a, const Positions& b) {
  CommonRows out;
  if (!a.axes.empty() && a.axes == b.axes) {
    out.positions = a;
    out.in_a.resize(static_cast<std::size_t>(a.count()));
    std::iota(out.in_a.begin(), out.in_a.end(), 0);
    out.in_b = out.in_a;
  }
  if (!a.axes.empty() || !b.axes.empty()) return out;
  std::vector<std::int64_t> list;
  std::int64_t i = 0, j = 0;
  while (i < a.count() && j < b.count()) {
    if (a.at(i) < b.at(j)) {
      ++i;
    } else if (b.at(j) < a.at(i)) {
      ++j;
    } else {
      if (list.empty() || list.back() != a.at(i)) {
        list.push_back(a.at(i));
        out.in_a.push_back(i);
        out.in_b.push_back(j);
      }
      ++i, ++j;
    }
  }
  out.positions.list = std::move(list);
  return out;
}

}  // namespace

TwoDumps compare_dumps(const Dump& a, const Dump& b) {
  if (a.problem.rope.rotary_dim() != b.problem.rope.rotary_dim())
    throw BadInput(b.file, "columns", fmt::format("{}", b.problem.rope.rotary_dim()),
                   fmt::format("{} rotated columns are needed, as in {}", a.problem.rope.rotary_dim(), a.file));
  const CommonRows rows = common_rows(a.problem.positions, b.problem.positions);
  if (rows.in_a.empty()) throw BadInput(b.file, "positions", "", "none of them is in " + a.file);

  TwoDumps out;
  out.rows = std::ssize(rows.in_a);
  std::list<std::pair<std::string, IdentityCheck>> checks;
  const Stages of_a = rows_of(a.stages, rows.in_a), of_b = rows_of(b.stages, rows.in_b);
  for (const std::string& stage : kPipeline) {
    const bool rows_were_chosen = stage == "positions" && (a.positions_are_truth || b.positions_are_truth);
    if (of_a.contains(stage) && of_b.contains(stage) && !rows_were_chosen)
      checks.emplace_back(stage, IdentityCheck(stage));
  }
  if (checks.empty()) throw BadInput(b.file, "", "", "no stage that " + a.file + " has too");

  Truth truth(a.problem.rope, rows.positions);
  const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / (a.problem.rope.rotary_dim() / 2));
  for (std::int64_t first = 0; first < out.rows; first += step) {
    const std::int64_t count = std::min(step, out.rows - first);
    truth.start_block(first, count);
    const Stages x = block_of(of_a, first, count), y = block_of(of_b, first, count);
    for (auto& [stage, check] : checks) check.add(x, y, truth, first == 0);
  }
  for (const auto& [stage, check] : checks) {
    Result& result = out.results.emplace_back();
    result.relation = Relation::identity;
    result.suite = "check";
    result.stage = stage;
    result.dtype = a.problem.dtype;
    result.subjects = {subject_of(a), subject_of(b)};
    check.conclude(result);
    if (check.differs() && out.first_stage.empty()) out.first_stage = stage;
  }
  for (Result& result : out.results) result.first_stage = out.first_stage;
  return out;
}

std::string two_dumps_text(const TwoDumps& two) {
  std::string out =
      two.first_stage.empty() ? "the same bits at" : fmt::format("they differ from {} on, at", two.first_stage);
  out += fmt::format(" {} positions that both have\n", two.rows);
  for (const Result& r : two.results) {
    out += fmt::format("{:<10} {} of {} differ", r.stage, r.measured.mismatched, r.measured.compared);
    if (r.worst) {
      out += fmt::format(", most {} at", short_number(r.measured.max_abs));
      if (r.stage != "inv_freq") out += fmt::format(" position {}", r.worst->position);
      if (r.stage != "positions") out += fmt::format(" pair {}", r.worst->pair);
      out += fmt::format(": {} and {}", decimal(r.worst->got), decimal(r.worst->expected));
    }
    if (r.closer)
      out += fmt::format("; closer to exact there: {} (off by at most {} and {})", r.closer->subject,
                         short_number(r.closer->max_abs[0]), short_number(r.closer->max_abs[1]));
    if (!r.reason.empty()) out += "; " + r.reason;
    out += "\n";
  }
  return out;
}

nlohmann::ordered_json two_dumps_json(const TwoDumps& two) {
  return {{"rows", two.rows},
          {"first_stage", two.first_stage.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(two.first_stage)},
          {"results", results_json(two.results)}};
}

}  // namespace ropewalk
