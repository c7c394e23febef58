#include "harness/cases/case.hpp"

namespace ropewalk {

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
