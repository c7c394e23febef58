#include "harness/report/identity_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

struct Cell {
  bool compared = false, differs = false, untrusted = false;
  std::string first_stage;
};

struct Group {
  std::string label, dtype, subjects;
  std::map<std::string, Cell> cells;          // by the parameters
  std::map<std::string, std::size_t> closer;  // subject -> comparisons in which it is nearer to the exact value
  const Result* largest = nullptr;
  std::int64_t undetermined = 0;
};

bool larger(double a, double b) {
  if (std::isnan(b)) return false;
  return std::isnan(a) || a > b;
}

void add(Group& group, const Result& result) {
  Cell& cell = group.cells[result.params.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)];
  if (result.verdict == Verdict::skipped || result.verdict == Verdict::error) return;
  cell.compared = true;
  cell.untrusted |= result.verdict == Verdict::untrusted;
  group.undetermined += result.measured.undetermined;
  if (result.closer) ++group.closer[result.closer->subject];
  if (result.measured.mismatched == 0 && result.verdict != Verdict::fail) return;
  cell.differs = true;
  if (cell.first_stage.empty()) cell.first_stage = result.first_stage;
  if (group.largest == nullptr || larger(result.measured.max_abs, group.largest->measured.max_abs))
    group.largest = &result;
}

std::string largest_text(const Result& result) {
  std::string text = fmt::format(", largest {} in {}", short_number(result.measured.max_abs), result.stage);
  if (result.worst) text += fmt::format(" at position {} pair {}", result.worst->position, result.worst->pair);
  const std::string params = params_text(result.params);
  return text + (params.empty() ? "" : " (" + one_line(params, 80) + ")");
}

// ", starts at inv_freq" if all cells agree, else ", starts at inv_freq (20 cells), angle (7 cells)".
std::string counts_text(const char* words, const std::map<std::string, std::size_t>& counts, const char* unit) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + name;
    if (counts.size() > 1) text += " (" + counted(count, unit) + ")";
  }
  return text.empty() ? "" : fmt::format(", {} {}", words, text);
}

std::string finding(const Group& group) {
  const auto count = [&](auto wanted) {
    return static_cast<std::size_t>(
        std::count_if(group.cells.begin(), group.cells.end(), [&](const auto& c) { return wanted(c.second); }));
  };
  const std::size_t compared = count([](const Cell& c) { return c.compared; });
  const std::size_t differing = count([](const Cell& c) { return c.differs; });
  const std::size_t untrusted = count([](const Cell& c) { return c.untrusted; });
  if (compared == 0) return fmt::format("not compared ({})", counted(group.cells.size(), "cell"));

  std::string text;
  if (differing == 0) {
    text = fmt::format("identical in {} of {}", compared, counted(group.cells.size(), "cell"));
  } else {
    text = fmt::format("differs in {} of {}", differing, counted(group.cells.size(), "cell")) +
           largest_text(*group.largest);
    std::map<std::string, std::size_t> starts;
    for (const auto& [params, cell] : group.cells)
      if (cell.differs && !cell.first_stage.empty()) ++starts[cell.first_stage];
    text += counts_text("starts at", starts, "cell") + counts_text("closer to exact:", group.closer, "table");
  }
  if (compared < group.cells.size()) text += fmt::format(", {} not compared", group.cells.size() - compared);
  if (untrusted > 0) text += fmt::format(", {} untrusted", untrusted);
  if (group.undetermined > 0)
    text += fmt::format(", {} undetermined", counted(static_cast<std::size_t>(group.undetermined), "element"));
  return text;
}

}  // namespace

std::string params_text(const nlohmann::ordered_json& params) {
  const auto shown = [](const nlohmann::ordered_json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? decimal(value.get<double>()) : value.dump();
  };
  std::string text;
  for (const auto& [name, value] : params.items()) text += (text.empty() ? "" : ",") + name + "=" + shown(value);
  return text;
}

std::string case_label(const Report& report, const Result& result) {
  const bool one_suite = std::all_of(report.results.begin(), report.results.end(),
                                     [&](const Result& r) { return r.suite == report.results.front().suite; });
  return one_line(one_suite ? result.case_name : result.suite + "/" + result.case_name, 32);
}

std::vector<std::string> identity_lines(const Report& report, bool differing_first) {
  std::vector<Group> groups;
  std::map<std::tuple<std::string, std::string, DType, std::string>, std::size_t> index;
  for (const Result& result : report.results) {
    if (result.relation != Relation::identity) continue;
    std::string subjects;
    for (const SubjectInfo& subject : result.subjects) subjects += (subjects.empty() ? "" : " ~ ") + subject.name;
    const auto [entry, is_new] =
        index.emplace(std::tuple(result.suite, result.case_name, result.dtype, subjects), groups.size());
    if (is_new)
      groups.push_back(
          {case_label(report, result), std::string(name_of(result.dtype)), one_line(subjects, 40), {}, {}, nullptr, 0});
    add(groups[entry->second], result);
  }
  if (differing_first)
    std::stable_partition(groups.begin(), groups.end(), [](const Group& g) { return g.largest != nullptr; });

  std::size_t label_width = 0, subject_width = 0;
  for (const Group& group : groups) {
    label_width = std::max(label_width, group.label.size());
    subject_width = std::max(subject_width, group.subjects.size());
  }
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const Group& group : groups)
    lines.push_back(fmt::format("{:<{}}  {:<8}  {:<{}}  {}", group.label, label_width, group.dtype, group.subjects,
                                subject_width, finding(group)));
  return lines;
}

}  // namespace ropewalk
