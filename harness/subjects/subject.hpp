// The thing under test. It delivers stages for blocks of rows; where the numbers come from is its own business.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/work.hpp"
#include "harness/report/result.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// Tensors by stage: positions [rows] or, of several axes, [rows, axes], inv_freq [pairs], angle, cos, sin [rows, pairs]
// in pair order. A stage that the subject does not deliver is absent.
using Stages = std::map<std::string, Tensor>;

// The subject broke (crash, time-out, nonsense): the verdict is `error` with this reason.
struct SubjectError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The subject says, or we know, that it cannot do this problem: the verdict is `skipped`.
struct SubjectUnsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A parameter, a buffer or a plain attribute of a module after its initialisation.
struct ModuleTensor {
  std::string name, device;
};

// What a subject makes of a whole problem (attention, LoRA): the stages that it delivers, in the shapes of
// docs/protocol.md.
struct Whole {
  Stages stages;
  std::map<std::string, std::string> failed;  // stage -> why it is not there, where the subject broke over it
  std::map<std::string, Work> work;           // of each stage, where it was counted
  std::vector<std::string> notes;
  std::vector<ModuleTensor> module;         // every tensor that the module holds, where the subject lists them
  std::vector<std::string> changed_inputs;  // names of the inputs that it wrote into
};

class Subject {
 public:
  virtual ~Subject() = default;
  // Called once for a case, before rows(). Throws SubjectError or SubjectUnsupported.
  virtual void prepare(const Case& problem) = 0;
  // Rows first .. first+count-1 of the case's positions. inv_freq is the same in each block.
  virtual Stages rows(std::int64_t first, std::int64_t count) = 0;
  // Instead of rows(), for problems that are no tables.
  virtual Whole whole(const Case&, const Stages&) { throw SubjectUnsupported("it delivers tables only"); }
  // Computes one stage of the last whole problem again: seconds that it took; nothing if it cannot be timed.
  virtual std::optional<double> time_stage(const std::string&) { return {}; }
  virtual SubjectInfo info() const = 0;
  virtual std::int64_t undetermined() const { return 0; }
};

// A file of tensors (read_tensors.hpp), stages by their names or by the given map. Shapes [rows, pairs]; also accepted:
// leading axes of size 1, full width with both halves equal or interleaved pairs equal.
std::unique_ptr<Subject> make_tensor_file_subject(const SubjectSpec& spec);
// An external program that speaks the line protocol (docs/protocol.md). The process lives as long as the object and is
// started again after it broke; `folder` is its working directory.
std::unique_ptr<Subject> make_program_subject(const SubjectSpec& spec, const std::filesystem::path& folder);
// A shared library (adapters/ropewalk_plugin.h) in a child process that answers as such a program.
std::unique_ptr<Subject> make_plugin_subject(const SubjectSpec& spec, const std::filesystem::path& folder);
// A recording (docs/kernels.md) that was checked for the cases to come.
class Recording;
std::unique_ptr<Subject> make_recording_subject(const SubjectSpec& spec, std::shared_ptr<const Recording> recording);
// A recipe on a device, and (for a fault) nothing else: its parent only lends the limits.
std::unique_ptr<Subject> make_recipe_subject(const SubjectSpec& spec);

}  // namespace ropewalk
