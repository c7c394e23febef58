// A subject without a cache of keys: all rows of a sequence in one call, of the length of its last (state.hpp). They
// are the rows of the calls that it stands for, in the same order.
#include "harness/cases/state.hpp"
#include "harness/subjects/variant.hpp"

namespace ropewalk {
namespace {

class RecomputedSubject final : public Subject {
 public:
  explicit RecomputedSubject(std::unique_ptr<Subject> inner) : inner_(std::move(inner)) {}

  void prepare(const Case& problem) override {
    Case at_once = problem;
    at_once.state = recomputed(*problem.state);
    inner_->prepare(at_once);
  }
  Stages rows(std::int64_t first, std::int64_t count) override { return inner_->rows(first, count); }

  SubjectInfo info() const override {
    SubjectInfo info = inner_->info();
    info.variant = "recomputed";
    return info;
  }
  std::int64_t undetermined() const override { return inner_->undetermined(); }

 private:
  std::unique_ptr<Subject> inner_;
};

}  // namespace

std::unique_ptr<Subject> make_recomputed_subject(std::unique_ptr<Subject> inner) {
  return std::make_unique<RecomputedSubject>(std::move(inner));
}

}  // namespace ropewalk
