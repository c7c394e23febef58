// A recording as a subject: what a device computed earlier or elsewhere.
#include "harness/recordings/recording.hpp"

#include "harness/subjects/subject.hpp"
#include "harness/subjects/table_stages.hpp"

namespace ropewalk {
namespace {

class RecordingSubject final : public Subject {
 public:
  RecordingSubject(const SubjectSpec& spec, std::shared_ptr<const Recording> recording)
      : spec_(spec), recording_(std::move(recording)) {}

  void prepare(const Case& problem) override {
    run_ = recording_->read(problem, spec_.recorded, spec_.module_cast != ModuleCast::none);
    if (!run_.skipped.empty()) throw SubjectUnsupported("not recorded: " + run_.skipped);
  }
  Stages rows(std::int64_t first, std::int64_t count) override { return block_of(run_.stages, first, count); }
  Whole whole(const Case&, const Stages&) override {
    Whole out;
    out.stages = run_.stages;
    out.failed = run_.failed;
    return out;
  }

  SubjectInfo info() const override {
    SubjectInfo info;
    info.name = spec_.name;
    info.recipe = run_.recipe;
    info.device = recording_->provenance().device;
    info.recording = spec_.recording.string();
    info.claims = !spec_.claims.empty() ? spec_.claims : run_.recipe;
    info.emulated = recording_->provenance().emulated;
    info.module_cast = spec_.module_cast;
    return info;
  }
  std::int64_t undetermined() const override { return run_.undetermined; }

 private:
  SubjectSpec spec_;
  std::shared_ptr<const Recording> recording_;
  RecordedRun run_;
};

}  // namespace

std::unique_ptr<Subject> make_recording_subject(const SubjectSpec& spec, std::shared_ptr<const Recording> recording) {
  return std::make_unique<RecordingSubject>(spec, std::move(recording));
}

}  // namespace ropewalk
