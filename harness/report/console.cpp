#include "harness/report/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/report/cost_lines.hpp"
#include "harness/report/identity_lines.hpp"
#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

using Lines = std::vector<std::string>;

// Lines of the screen. The identity lines get what the others leave.
constexpr std::size_t kScreen = 40, kCases = 8, kUnexpected = 3, kReasons = 3, kLeastIdentity = 6;

struct CaseRow {
  std::string label;
  std::array<std::size_t, 5> verdicts{};  // by Verdict
  std::size_t unexpected = 0;
  const Result* tightest = nullptr;  // the pass that came nearest to its limit
};

std::vector<CaseRow> case_rows(const Report& report) {
  std::vector<CaseRow> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const Result& result : report.results) {
    const auto [entry, is_new] = index.emplace(std::pair(result.suite, result.case_name), rows.size());
    if (is_new) rows.emplace_back().label = case_label(report, result);
    CaseRow& row = rows[entry->second];
    ++row.verdicts.at(static_cast<std::size_t>(result.verdict));
    row.unexpected += result.unexpected ? 1 : 0;
    const bool counts = result.verdict == Verdict::pass && result.margin.has_value();
    if (counts && (row.tightest == nullptr || *result.margin > *row.tightest->margin)) row.tightest = &result;
  }
  return rows;
}

// Never rounded up: 0.9999 is not 1.
std::string truncated(double margin) { return fmt::format("{:g}", std::floor(margin * 1000) / 1000); }

std::string row_text(const CaseRow& row, std::size_t width) {
  std::size_t checks = 0;
  for (const std::size_t count : row.verdicts) checks += count;
  std::string text =
      fmt::format("{:<{}} {:>7} {:>7} {:>7} {:>9} {:>7} {:>7} {:>10}", row.label, width, checks, row.verdicts[0],
                  row.verdicts[1], row.verdicts[2], row.verdicts[3], row.verdicts[4], row.unexpected);
  if (row.tightest != nullptr)
    text += fmt::format("  {} of the limit ({} {})", truncated(*row.tightest->margin), row.tightest->stage,
                        name_of(row.tightest->dtype));
  return text;
}

Lines case_table(const Report& report) {
  std::vector<CaseRow> rows = case_rows(report);
  if (rows.empty()) return {};
  CaseRow total{.label = "all", .verdicts = {}, .unexpected = 0, .tightest = nullptr};
  std::size_t width = 4;
  for (const CaseRow& row : rows) {
    for (std::size_t v = 0; v < total.verdicts.size(); ++v) total.verdicts.at(v) += row.verdicts.at(v);
    total.unexpected += row.unexpected;
    width = std::max(width, row.label.size());
  }
  if (rows.size() > kCases)
    std::stable_partition(rows.begin(), rows.end(), [](const CaseRow& row) { return row.unexpected > 0; });
  Lines lines{fmt::format("{:<{}} {:>7} {:>7} {:>7} {:>9} {:>7} {:>7} {:>10}  closest pass", "case", width, "checks",
                          "pass", "fail", "untrusted", "skipped", "error", "unexpected")};
  for (std::size_t i = 0; i < std::min(rows.size(), kCases); ++i) lines.push_back(row_text(rows[i], width));
  if (rows.size() > kCases) {
    std::size_t unexpected = 0;
    for (std::size_t i = kCases; i < rows.size(); ++i) unexpected += rows[i].unexpected;
    lines.push_back(fmt::format("... and {}, {} unexpected", counted(rows.size() - kCases, "more case"), unexpected));
  }
  if (rows.size() > 1) lines.push_back(row_text(total, width));
  return lines;
}

std::string why(const Result& result) {
  std::string text = result.reason;
  if (text.empty() && result.worst)
    text = fmt::format("got {}, expected {} at position {} pair {}", decimal(result.worst->got),
                       decimal(result.worst->expected), result.worst->position, result.worst->pair);
  if (!result.first_stage.empty() && text.find(result.first_stage) == std::string::npos)
    text += fmt::format("{}starts at {}", text.empty() ? "" : "; ", result.first_stage);
  return one_line(text, 240);
}

// One line stands for all results of a case that went wrong in the same way.
std::string kind_of(const Result& r) {
  std::string kind = fmt::format("{}/{}/{}/{}", r.suite, r.case_name, name_of(r.relation), name_of(r.verdict));
  for (const SubjectInfo& subject : r.subjects) kind += "/" + subject.name;
  return kind;
}

Lines unexpected_lines(const Report& report) {
  std::vector<std::pair<const Result*, std::size_t>> kinds;  // the first of its kind, how many there are
  std::map<std::string, std::size_t> index;
  std::size_t all = 0;
  for (const Result& result : report.results) {
    if (!result.unexpected) continue;
    ++all;
    const auto [entry, is_new] = index.emplace(kind_of(result), kinds.size());
    if (is_new) kinds.emplace_back(&result, 0);
    ++kinds[entry->second].second;
  }
  if (all == 0) return {};
  Lines lines{fmt::format("not as expected ({})", all)};
  std::size_t told = 0;
  for (std::size_t i = 0; i < std::min(kinds.size(), kUnexpected); ++i) {
    const auto& [result, alike] = kinds[i];
    told += alike;
    lines.push_back(fmt::format("  {}, expected {}: {}{}", name_of(result->verdict), name_of(result->expected),
                                printable(result->id), alike > 1 ? fmt::format(" and {} alike", alike - 1) : ""));
    if (const std::string reason = why(*result); !reason.empty()) lines.push_back("    " + reason);
    if (!result->rerun.empty()) lines.push_back("    " + printable(result->rerun));
  }
  if (told < all) lines.push_back("  ... and " + counted(all - told, "other"));
  return lines;
}

Lines skipped_lines(const Report& report) {
  std::map<std::string, std::size_t> reasons;
  for (const Result& result : report.results)
    if (result.verdict == Verdict::skipped)
      ++reasons[one_line(result.reason.empty() ? "no reason given" : result.reason, 120)];
  std::vector<std::pair<std::string, std::size_t>> ordered(reasons.begin(), reasons.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Lines lines;
  for (const auto& [reason, count] : ordered) {
    if (lines.size() == kReasons) {
      lines.push_back(fmt::format("skipped: ... and {}", counted(ordered.size() - kReasons, "more reason")));
      break;
    }
    lines.push_back(fmt::format("skipped: {}: {}", counted(count, "check"), reason));
  }
  return lines;
}

Lines emulated_lines(const Report& report) {
  std::set<std::string> devices;
  std::size_t checks = 0;
  for (const Result& result : report.results) {
    bool emulated = false;
    for (const SubjectInfo& subject : result.subjects) {
      if (!subject.emulated) continue;
      emulated = true;
      devices.insert(subject.device.empty() ? subject.name : subject.device);
    }
    checks += emulated ? 1 : 0;
  }
  if (checks == 0) return {};
  std::string names;
  for (const std::string& device : devices) names += (names.empty() ? "" : ", ") + device;
  return {fmt::format("emulated: {} with {}: a GPU's arithmetic modelled on the CPU, not a run on a GPU",
                      counted(checks, "check"), one_line(names, 80))};
}

std::string environment_line(const Report& report) {
  const Environment& e = report.environment;
  const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  return one_line(fmt::format("{} on {}, {}, {}, torch {}, cuda {}, gpu {}, seed {}",
                              counted(static_cast<std::size_t>(report.cases), "cell"), or_none(e.cpu), or_none(e.isa),
                              counted(static_cast<std::size_t>(e.threads), "thread"), or_none(e.torch), or_none(e.cuda),
                              or_none(e.gpu), e.seed),
                  200);
}

Lines closing_lines(const Report& report) {
  const ProofCounts& proof = report.reference;
  Lines lines{
      fmt::format(
          "reference: {} values proved by the fast path, {} with more digits, {} exact, {} midpoints, {} undecided",
          proof.fast, proof.fallback, proof.exact, proof.midpoints, proof.undecided),
      fmt::format("time: {:.1f} s; work of all threads: subjects {:.1f} s, reference {:.1f} s, checks {:.1f} s",
                  report.seconds, report.seconds_subjects, report.seconds_reference, report.seconds_checks)};
  if (!report.complete) lines.emplace_back("INCOMPLETE: the run was interrupted; only what finished is counted");
  const auto count = [&](auto wanted) {
    return static_cast<std::size_t>(std::count_if(report.results.begin(), report.results.end(), wanted));
  };
  const std::size_t unexpected = count([](const Result& r) { return r.unexpected; });
  const std::size_t skipped = count([](const Result& r) { return r.verdict == Verdict::skipped; });
  if (report.results.empty())
    lines.emplace_back("NOTHING WAS COMPARED: there were no checks");
  else if (unexpected > 0)
    lines.push_back(fmt::format("NOT AS EXPECTED: {} of {}", unexpected, counted(report.results.size(), "verdict")));
  else if (skipped == report.results.size())
    lines.push_back(fmt::format("NOTHING WAS COMPARED: {} skipped", counted(skipped, "check")));
  else
    lines.push_back(
        fmt::format("as expected: {} of {}", report.results.size(), counted(report.results.size(), "verdict")));
  return lines;
}

Lines identity_section(const Report& report, std::size_t room) {
  const std::vector<IdentityLine> all = identity_lines(report);
  if (all.empty()) return {};
  const std::size_t most = std::max(room, kLeastIdentity) - 2;  // the title, and the line that tells of the others
  Lines lines = in_columns(all.size() <= most + 1 ? all : some_of_each_case(all, most));
  for (std::string& line : lines) line.insert(0, "  ");
  lines.insert(lines.begin(), "bit for bit");
  if (all.size() > most + 1) lines.push_back("  ... and " + counted(all.size() - most, "more line"));
  return lines;
}

}  // namespace

std::string summary_text(const Report& report) {
  const Lines table = case_table(report), unexpected = unexpected_lines(report), costs = cost_lines(report);
  Lines notes = skipped_lines(report);
  for (const Lines& more : {emulated_lines(report), closing_lines(report)})
    notes.insert(notes.end(), more.begin(), more.end());
  const std::size_t taken =
      1 + table.size() + unexpected.size() + costs.size() + notes.size() + 5;  // 5: lines between the sections
  const Lines identity = identity_section(report, kScreen > taken ? kScreen - taken : 0);

  std::string out = environment_line(report) + "\n";
  for (const Lines* section : {&table, &identity, &costs, &unexpected, static_cast<const Lines*>(&notes)}) {
    if (section->empty()) continue;
    out += "\n";
    for (const std::string& line : *section) out += line + "\n";
  }
  return out;
}

}  // namespace ropewalk
