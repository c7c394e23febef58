// One result and a report: what every check produces and every reporter reads.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"

namespace ropewalk {

struct SubjectInfo {
  std::string name, recipe, device, program, tensors, recording;  // what applies; the others empty
  std::string claims, variant;
  bool emulated = false;
  ModuleCast module_cast = ModuleCast::none;
};

struct Band {
  std::int64_t first = 0, last = 0;
  double max_abs = 0;
};  // inclusive range of positions or pairs

// Statistics of |difference|: of two subjects (identity), or of subject and reference (accuracy: the total error).
struct Measured {
  std::int64_t compared = 0,
               mismatched = 0;  // mismatched: other bits (identity), not the correctly rounded number (accuracy)
  double max_abs = 0, max_ulp = 0, mean_abs = 0, mean_signed = 0, p99_abs = 0;
  std::int64_t nan[2] = {0, 0}, inf[2] = {0, 0};
  std::vector<Band> by_position, by_pair;
  std::int64_t undetermined = 0;  // results that move when the hardware's approximate reciprocal moves by one ulp
};

struct ErrorSize {
  double max_abs = 0, max_ulp = 0;
};
struct AccuracyError {
  ErrorSize local, inherited, total;
};

struct Limit {
  double value = 0;  // at the element that comes nearest to (or exceeds) it
  std::string unit, formula, source;
};

struct Worst {  // the element that decides the verdict
  std::int64_t position = 0, pair = 0, row = 0;
  double got = 0, expected = 0;
  std::int64_t call = -1, length = 0;  // of a case with a state block: which call, and its length
};

struct Closer {
  std::string subject;
  double max_abs[2] = {0, 0};
};  // of two subjects: the one nearer to the reference

struct Result {
  std::string id;
  Relation relation = Relation::accuracy;
  std::string suite, case_name, stage;
  DType dtype = DType::float32;
  std::string stage_dtype;  // of the tensor that was delivered
  nlohmann::ordered_json params;
  std::vector<SubjectInfo> subjects;
  Measured measured;
  std::optional<AccuracyError> error;
  std::optional<Limit> local_limit, total_limit;
  std::optional<double> margin;  // largest error / limit; > 1 is a failure; none where the limit is zero
  Verdict verdict = Verdict::pass, expected = Verdict::pass;
  bool unexpected = false;
  std::string reason;  // for skipped, error, untrusted, and in words what failed
  std::string first_stage;
  std::optional<Closer> closer;
  std::optional<Worst> worst;
  nlohmann::ordered_json details;  // relation-specific facts, e.g. effective mantissa bits, repeats
  std::string rerun;
};

struct Environment {
  std::string cpu, isa, torch, cuda, gpu, libm, git;  // cuda, gpu: empty means null
  int threads = 1;
  std::uint64_t seed = 0;
};

struct ProofCounts {
  std::int64_t fast = 0, fallback = 0, exact = 0, midpoints = 0, undecided = 0;
};

struct Report {
  bool complete = true;
  Environment environment;
  std::int64_t cases = 0;
  double seconds = 0, seconds_subjects = 0, seconds_reference = 0, seconds_checks = 0;
  ProofCounts reference;           // how the reference values of this run were proved
  nlohmann::ordered_json derived;  // suite/case/parameters -> what a model's config.json was taken to say; may be null
  std::vector<Result> results;     // in the order of `ropewalk list`
};

}  // namespace ropewalk
