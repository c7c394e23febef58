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

std::vector<IdentityLine> identity_lines(const Report& report) {
  std::vector<Group> groups;
  std::map<std::tuple<std::string, std::string, DType, std::string>, std::size_t> index;
  for (const Result& result : report.results) {
    if (result.relation != Relation::identity) continue;
    std::string subjects;
    for (const SubjectInfo& subject : result.subjects) subjects += (subjects.empty() ? "" : " ~ ") + subject.name;
    const auto key = std::tuple(result.suite, result.case_name, result.dtype, subjects);
    const auto [entry, is_new] = index.emplace(key, groups.size());
    if (is_new) {
      Group& group = groups.emplace_back();
      group.label = case_label(report, result);
      group.subjects = one_line(subjects, 40);
      group.dtype = name_of(result.dtype);
    }
    add(groups[entry->second], result);
  }

  std::vector<IdentityLine> lines;
  for (const Group& group : groups) {
    const IdentityLine line{group.label, group.dtype, group.subjects, finding(group), group.largest != nullptr};
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const IdentityLine& other) {
      return !line.differs && line.label == other.label && line.subjects == other.subjects &&
             line.finding == other.finding;
    });
    if (same == lines.end())
      lines.push_back(line);
    else
      same->dtypes += " " + line.dtypes;
  }
  return lines;
}

std::vector<IdentityLine> some_of_each_case(const std::vector<IdentityLine>& lines, std::size_t most) {
  std::map<std::string, std::size_t> seen;                 // lines of this case so far
  std::vector<std::pair<std::size_t, std::size_t>> order;  // turn, index
  for (std::size_t i = 0; i < lines.size(); ++i) order.emplace_back(seen[lines[i].label]++, i);
  std::sort(order.begin(), order.end());
  order.resize(std::min(most, order.size()));
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<IdentityLine> chosen;
  chosen.reserve(order.size());
  for (const auto& [turn, i] : order) chosen.push_back(lines[i]);
  return chosen;
}

std::vector<std::string> in_columns(const std::vector<IdentityLine>& lines) {
  std::size_t label = 0, dtypes = 0, subjects = 0;
  for (const IdentityLine& line : lines) {
    label = std::max(label, line.label.size());
    dtypes = std::max(dtypes, line.dtypes.size());
    subjects = std::max(subjects, line.subjects.size());
  }
  std::vector<std::string> out;
  out.reserve(lines.size());
  for (const IdentityLine& line : lines)
    out.push_back(fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", line.label, label, line.dtypes, dtypes, line.subjects,
                              subjects, line.finding));
  return out;
}

}  // namespace ropewalk
