#include "harness/cases/case.hpp"

#include <algorithm>
#include <numeric>

namespace ropewalk {

std::vector<std::int64_t> Positions::all() const {
  std::vector<std::int64_t> out = list;
  if (out.empty()) {
    out.resize(static_cast<std::size_t>(limit));
    std::iota(out.begin(), out.end(), 0);
  }
  return out;
}

std::int64_t Positions::largest() const {
  if (axes.empty()) return list.empty() ? limit - 1 : list.back();
  std::int64_t most = 0;
  for (const auto& axis : axes) most = std::max(most, *std::max_element(axis.begin(), axis.end()));
  return most;
}

std::string_view name_of(Relation relation) {
  switch (relation) {
    case Relation::accuracy:
      return "accuracy";
    case Relation::identity:
      return "identity";
    case Relation::invariants:
      return "invariants";
    case Relation::equivalence:
      return "equivalence";
  }
  return "";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::untrusted:
      return "untrusted";
    case Verdict::skipped:
      return "skipped";
    case Verdict::error:
      return "error";
  }
  return "";
}

}  // namespace ropewalk
