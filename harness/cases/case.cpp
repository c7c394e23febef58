#include "harness/cases/case.hpp"

#include <cmath>

namespace ropewalk {

std::string_view name_of(Relation relation) {
  switch (relation) {
    case Relation::accuracy:
      return "accuracy";
    case Relation::identity:
      return "identity";
    case Relation::invariants:
      return "invariants";
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

std::int64_t Rope::rotary_dim() const {
  return static_cast<std::int64_t>(std::trunc(static_cast<double>(head_dim) * partial_rotary_factor));
}

}  // namespace ropewalk
