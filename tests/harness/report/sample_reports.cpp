#include "tests/harness/report/sample_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace ropewalk::samples {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

SubjectInfo on_cpu() {
  SubjectInfo subject;
  subject.name = "on-cpu";
  subject.recipe = subject.claims = "hf-llama-4.37";
  subject.device = "cpu";
  return subject;
}

SubjectInfo on_gpu() {
  SubjectInfo subject = on_cpu();
  subject.name = "on-gpu";
  subject.device = "cuda-math";
  subject.emulated = true;
  return subject;
}

std::string subjects_text(const std::vector<SubjectInfo>& subjects) {
  std::string text;
  for (const SubjectInfo& subject : subjects) text += (text.empty() ? "" : "~") + subject.name;
  return text;
}

Result make(Relation relation, std::string case_name, std::string stage, DType dtype, std::vector<SubjectInfo> subjects,
            std::int64_t head_dim = 64, std::int64_t base = 10000, std::int64_t max_position = 4096) {
  Result r;
  r.relation = relation;
  r.suite = "seed-rope";
  r.case_name = std::move(case_name);
  r.stage = std::move(stage);
  r.dtype = dtype;
  r.stage_dtype = r.stage == "cos" || r.stage == "sin" ? name_of(dtype) : "float32";
  r.params = {{"head_dim", head_dim}, {"base", base}, {"max_position", max_position}};
  r.subjects = std::move(subjects);
  r.id = fmt::format("seed-rope/{}/head_dim={},base={},max_position={}/{}/{}/{}/{}", r.case_name, head_dim, base,
                     max_position, name_of(dtype), name_of(relation), subjects_text(r.subjects), r.stage);
  r.rerun = fmt::format("ropewalk run cases/seed.json --filter '^{}$'", r.id);
  r.measured.compared = max_position * head_dim / 2;
  return r;
}

Limit rounding_limit(double value) {
  return {value, "abs", "pos * inv_freq * k * u", "Higham, Accuracy and Stability of Numerical Algorithms, 2.2"};
}

Result accuracy_pass(const std::string& case_name, const std::string& stage, DType dtype, const SubjectInfo& subject,
                     double margin, std::int64_t head_dim = 64, std::int64_t base = 10000,
                     std::int64_t max_position = 4096) {
  Result r = make(Relation::accuracy, case_name, stage, dtype, {subject}, head_dim, base, max_position);
  r.measured.max_abs = margin * 0x1p-12;
  r.measured.max_ulp = 0.75;
  r.error = AccuracyError{{0x1p-25, 0.5}, {margin * 0x1p-12, 0.25}, {margin * 0x1p-12, 0.75}};
  r.local_limit = Limit{0.5, "ulp", "one rounding", "IEEE 754-2019, 4.3"};
  r.total_limit = rounding_limit(0x1p-12);
  r.margin = margin;
  return r;
}

Result differing(const std::string& case_name, const std::string& stage, DType dtype, double largest,
                 std::int64_t position, std::int64_t head_dim = 64, std::int64_t base = 10000,
                 std::int64_t max_position = 4096) {
  Result r = make(Relation::identity, case_name, stage, dtype, {on_cpu(), on_gpu()}, head_dim, base, max_position);
  r.measured.mismatched = r.measured.compared / 4;
  r.measured.max_abs = largest;
  r.measured.max_ulp = largest * 0x1p24;
  r.measured.mean_abs = largest / 8;
  r.measured.p99_abs = largest / 2;
  r.measured.by_position = {{0, 1023, largest / 4}, {1024, max_position - 1, largest}};
  r.measured.by_pair = {{0, 3, largest}, {4, head_dim / 2 - 1, largest / 16}};
  r.local_limit = Limit{0, "bits", "bit identity", "the case"};
  r.verdict = r.expected = Verdict::fail;
  r.first_stage = "inv_freq";
  r.closer = Closer{"on-cpu", {largest / 2, largest}};
  r.worst = Worst{position, 3, position, 0.5 + largest, 0.5};
  return r;
}

Environment environment() {
  Environment e;
  e.cpu = "Example CPU \xc2\xb5";
  e.isa = "avx512";
  e.threads = 2;
  e.torch = "2.15.0";
  e.libm = "glibc 2.36";
  e.git = "0123abc";
  return e;
}

}  // namespace

Report every_kind() {
  Report report;
  report.complete = false;
  report.environment = environment();
  report.environment.seed = std::numeric_limits<std::uint64_t>::max();
  report.cases = 3;
  report.seconds = 12.3456789;
  report.seconds_subjects = 4;
  report.seconds_reference = 17.25;
  report.seconds_checks = 0.125;
  report.reference = {1000000, 12, 64, 0, 1};

  report.results.push_back(accuracy_pass("before", "angle", DType::float32, on_cpu(), 0.25));
  report.results.push_back(accuracy_pass("before", "angle", DType::float32, on_cpu(), 0.625, 256));
  report.results.push_back(accuracy_pass("before", "angle", DType::float32, on_cpu(), 0.5, 1024));

  Result failed = accuracy_pass("before", "sin", DType::bfloat16, on_cpu(), 1.5);
  failed.measured.mismatched = 77;
  failed.verdict = Verdict::fail;
  failed.unexpected = true;
  failed.reason = "total error 1.5 times its limit";
  failed.first_stage = "angle";
  failed.worst = Worst{4095, 3, 4095, 0.1, -0.25};
  report.results.push_back(failed);

  report.results.push_back(differing("before", "sin", DType::float32, 0x1p-13, 4095));

  Result same = make(Relation::identity, "proposal", "cos", DType::float16, {on_cpu(), on_gpu()});
  same.local_limit = Limit{0, "bits", "bit identity", "the case"};
  same.measured.undetermined = 5;
  report.results.push_back(same);

  Result nan = differing("proposal", "sin", DType::float16, kNan, 17);
  nan.expected = Verdict::pass;
  nan.unexpected = true;
  nan.measured.max_ulp = kInfinity;
  nan.measured.mean_signed = -kInfinity;
  nan.measured.nan[1] = 2;
  nan.measured.inf[0] = 1;
  nan.worst = Worst{17, 0, 17, kNan, -kInfinity};
  nan.details = {{"effective_mantissa_bits", kNan}, {"repeats", {1, kInfinity}}, {"note", "bits \xff"}};
  report.results.push_back(nan);

  Result skipped = make(Relation::identity, "proposal", "sin", DType::float32, {on_cpu(), on_gpu()});
  skipped.verdict = skipped.expected = Verdict::skipped;
  skipped.reason = "device cuda: no driver (libcuda.so.1)";
  report.results.push_back(skipped);

  SubjectInfo program;
  program.name = "their-program";
  program.program = "python3 adapter.py";
  Result broken = make(Relation::accuracy, "proposal", "angle", DType::float32, {program});
  broken.verdict = Verdict::error;
  broken.unexpected = true;
  broken.reason =
      "exited with 1; stderr:\n\x1b[31mTraceback\x1b[0m \"<&>\" f\xc3\xbcr \xe2\x88\x9a"
      "2\r\n\tbell\a, broken \xc3(";
  report.results.push_back(broken);

  SubjectInfo file;
  file.name = "dump";
  file.tensors = "dump.safetensors";
  file.claims = "hf-llama-4.37";
  file.module_cast = ModuleCast::before_table;
  Result untrusted = make(Relation::invariants, "proposal", "cos", DType::float32, {file});
  untrusted.verdict = Verdict::untrusted;
  untrusted.unexpected = true;
  untrusted.reason = "only position 0";
  report.results.push_back(untrusted);

  Result zero = make(Relation::invariants, "proposal", "sin", DType::float32, {file});
  zero.local_limit = Limit{0, "abs", "sin(0) = 0", "docs/numerics.md"};
  report.results.push_back(zero);
  return report;
}

Report seed_grid() {
  Report report;
  report.environment = environment();
  report.seconds = 61;
  report.seconds_subjects = 20;
  report.seconds_reference = 90;
  report.seconds_checks = 10;
  report.reference = {123456789, 4321, 99, 0, 0};
  for (const char* name : {"before", "proposal"})
    for (const std::int64_t head_dim : {64, 256, 1024})
      for (const std::int64_t base : {10000, 100000, 1000000})
        for (const std::int64_t limit : {1024, 2048, 4096})
          for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
            ++report.cases;
            const bool differs = name == std::string("before") && dtype == DType::float32;
            for (const SubjectInfo& subject : {on_cpu(), on_gpu()})
              for (const char* stage : {"inv_freq", "angle", "cos", "sin"})
                report.results.push_back(accuracy_pass(
                    name, stage, dtype, subject, 0.125 + static_cast<double>(head_dim) / 2048, head_dim, base, limit));
            for (const char* stage : {"cos", "sin"}) {
              if (differs) {
                const double largest = 1.2e-4 * static_cast<double>(limit) / 4096 * (stage[0] == 's' ? 1 : 0.875);
                report.results.push_back(differing(name, stage, dtype, largest, limit - 1, head_dim, base, limit));
              } else {
                report.results.push_back(
                    make(Relation::identity, name, stage, dtype, {on_cpu(), on_gpu()}, head_dim, base, limit));
              }
            }
          }
  return report;
}

Report large(int count) {
  Report report;
  report.environment = environment();
  const Report kinds = every_kind();
  for (int i = 0; i < count; ++i) {
    Result r = kinds.results[static_cast<std::size_t>(i) % kinds.results.size()];
    r.case_name = fmt::format("case-{}", i % 50);
    r.id = fmt::format("{}#{}", r.id, i);
    if (r.verdict == Verdict::skipped) r.reason = fmt::format("reason {}", i % 7);
    report.results.push_back(r);
  }
  report.cases = count;
  return report;
}

}  // namespace ropewalk::samples
