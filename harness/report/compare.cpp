#include "harness/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::json;

struct Entry {
  std::string id, verdict;
  bool unexpected = false;
  std::optional<double> margin, max_abs;
};

std::optional<double> number_if(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(number_in(value));
}

std::vector<Entry> entries_of(const Json& report) {
  std::vector<Entry> entries;
  for (const Json& r : report["results"])
    entries.push_back(
        {r["id"], r["verdict"], r["unexpected"], number_if(r["margin"]), number_if(r["measured"]["max_abs"])});
  for (const auto& [id, margin] : report["passed"].items())
    entries.push_back({id, "pass", false, number_if(margin), {}});
  return entries;
}

std::ptrdiff_t rank(std::string_view verdict) {
  constexpr std::array<std::string_view, 5> kOrder{"pass", "untrusted", "skipped", "fail", "error"};
  return std::find(kOrder.begin(), kOrder.end(), verdict) - kOrder.begin();
}

std::string verdict_text(const Entry& e) { return e.verdict + (e.unexpected ? " (not expected)" : ""); }

bool grew(double before, double after, double growth) {
  if (std::isnan(before) || std::isnan(after)) return std::isnan(after) && !std::isnan(before);
  return after > before + growth * std::abs(before);
}

// Less than 0: better, more: worse.
int judge(const Entry& before, const Entry& after, double growth, std::string& what) {
  what = verdict_text(before) + " -> " + verdict_text(after);
  if (before.unexpected != after.unexpected) return after.unexpected ? 1 : -1;
  if (before.verdict != after.verdict) return rank(after.verdict) > rank(before.verdict) ? 1 : -1;
  const bool by_margin = before.margin && after.margin;
  const auto &old_number = by_margin ? before.margin : before.max_abs,
             &new_number = by_margin ? after.margin : after.max_abs;
  if (!old_number || !new_number) return 0;
  what = fmt::format("{} {} -> {}", by_margin ? "margin" : "max_abs", decimal(*old_number), decimal(*new_number));
  if (grew(*old_number, *new_number, growth)) return 1;
  return grew(*new_number, *old_number, growth) ? -1 : 0;
}

void append(std::string& out, const char* title, const std::vector<Change>& changes, std::size_t most) {
  if (changes.empty()) return;
  out += fmt::format("{} ({})\n", title, changes.size());
  for (std::size_t i = 0; i < std::min(most, changes.size()); ++i)
    out += fmt::format("  {}\n    {}\n", printable(changes[i].id), changes[i].what);
  if (changes.size() > most) out += fmt::format("  ... and {} more\n", changes.size() - most);
}

}  // namespace

Comparison compare(const nlohmann::json& old_report, const nlohmann::json& new_report, double growth) {
  Comparison out;
  out.old_complete = old_report["complete"];
  out.new_complete = new_report["complete"];
  const std::vector<Entry> before = entries_of(old_report), after = entries_of(new_report);
  std::unordered_map<std::string, const Entry*> new_by_id;
  for (const Entry& entry : after) new_by_id.emplace(entry.id, &entry);
  std::unordered_map<std::string, const Entry*> old_by_id;
  for (const Entry& entry : before) {
    old_by_id.emplace(entry.id, &entry);
    const auto match = new_by_id.find(entry.id);
    if (match == new_by_id.end()) {
      out.vanished.push_back({entry.id, verdict_text(entry)});
      continue;
    }
    std::string what;
    const int verdict = judge(entry, *match->second, growth, what);
    if (verdict == 0)
      ++out.same;
    else
      (verdict > 0 ? out.worse : out.better).push_back({entry.id, what});
  }
  for (const Entry& entry : after)
    if (!old_by_id.contains(entry.id)) out.appeared.push_back({entry.id, verdict_text(entry)});
  return out;
}

std::string comparison_text(const Comparison& c, std::size_t most) {
  std::string out;
  append(out, "worse", c.worse, most);
  append(out, "vanished", c.vanished, most);
  append(out, "better", c.better, most);
  append(out, "appeared", c.appeared, most);
  if (!c.old_complete) out += "the old report is of an interrupted run: what appeared may be older than it looks\n";
  if (!c.new_complete) out += "the new report is of an interrupted run: what vanished may only not have been reached\n";
  return out + fmt::format("{} worse, {} vanished, {} better, {} appeared, {} the same\n", c.worse.size(),
                           c.vanished.size(), c.better.size(), c.appeared.size(), c.same);
}

}  // namespace ropewalk
