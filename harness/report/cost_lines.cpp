#include "harness/report/cost_lines.hpp"

#include <fmt/format.h>

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;

std::string ratio_of(const Json& cost) {
  return cost.contains("ratio") ? fmt::format("time x {:.2f}", cost["ratio"].get<double>()) : "not timed";
}

// "seq=512": what tells the cells of a case apart is the last of their parameters.
std::string last_parameter(const Json& params) {
  if (params.empty()) return {};
  const auto last = std::prev(params.end());
  return fmt::format("{}={}", last.key(), last->is_string() ? last->get<std::string>() : last->dump());
}

std::string line_of(const Result& r) {
  const Json& cost = r.details["cost"];
  std::string text =
      fmt::format("  {:<18} {:<9} {:<12} {} / {} of {}: {}", r.case_name, name_of(r.dtype), last_parameter(r.params),
                  r.subjects[0].name, r.subjects[1].name, r.stage, ratio_of(cost));
  if (cost.contains("operations"))
    text += fmt::format(", operations {} / {}, tensors {} / {}", cost["operations"][0].get<std::int64_t>(),
                        cost["operations"][1].get<std::int64_t>(), cost["tensors"][0].get<std::int64_t>(),
                        cost["tensors"][1].get<std::int64_t>());
  if (r.details.contains("cost_with_q")) text += "; with rotated_q: " + ratio_of(r.details["cost_with_q"]);
  return text;
}

}  // namespace

std::vector<std::string> cost_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const Result& result : report.results)
    if (result.details.contains("cost")) lines.push_back(line_of(result));
  if (!lines.empty()) lines.insert(lines.begin(), "cost, side by side in one run");
  return lines;
}

}  // namespace ropewalk
