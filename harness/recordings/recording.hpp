// A recording: what a device computed for every stage of some cases, kept to be replayed anywhere. A folder of one
// safetensors file for each case and manifest.json. docs/kernels.md.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// All that decides the numbers of a case, whatever its name; of whole problems its inputs too, by their hash. Two cases
// whose text is the same ask for the same stages.
std::string problem_text(const Case& problem);

// What one recipe gave on the device.
struct RecordedRun {
  std::string recipe;
  bool module_cast = false;
  std::map<std::string, Tensor> stages;
  std::map<std::string, std::string> failed;  // stage -> why it is not there
  std::string skipped;                        // why there is nothing at all; empty otherwise
  std::int64_t undetermined = 0;              // results that the device's model could not warrant
};

// Where the numbers come from.
struct Provenance {
  std::string device, versions;
  bool emulated = false;
  Json environment;  // as in the report
};

class RecordingWriter {
 public:
  // `folder` must be new or empty; `against` may be empty: else a recording, and of a tensor that it has too only the
  // elements with other bits are stored. Throws BadInput.
  RecordingWriter(std::filesystem::path folder, const std::filesystem::path& against, Provenance provenance);
  ~RecordingWriter();
  void add(const Case& problem, const std::vector<RecordedRun>& runs);
  void finish();  // writes the manifest: an interrupted recording has none

  struct Totals {
    std::int64_t files = 0, tensors = 0, elements = 0, stored = 0;  // stored: elements, all of them or the differing
  };
  const Totals& totals() const { return totals_; }

 private:
  std::filesystem::path folder_, base_folder_;
  Provenance provenance_;
  std::unique_ptr<class Recording> base_;
  std::vector<Json> entries_;
  Totals totals_;
};

class Recording {
 public:
  // Reads and checks the manifest and, where it is stored against another recording, that one's. Throws BadInput.
  explicit Recording(const std::filesystem::path& folder);
  ~Recording();

  const Provenance& provenance() const { return provenance_; }
  bool against_another() const { return base_ != nullptr; }
  // The recipes recorded for this problem; `recipe` may be empty where there is one. Throws BadInput that names
  // `field` for a problem or a recipe that was not recorded.
  void need(const Case& problem, const std::string& recipe, bool module_cast, const std::string& field) const;
  // The same with its tensors; the hash of the file is checked. Throws BadInput.
  RecordedRun read(const Case& problem, const std::string& recipe, bool module_cast) const;
  bool has(const std::string& problem, const std::string& recipe, bool module_cast) const;  // problem: its text

 private:
  void check_file(const Json& entry) const;
  const Json& run(const Case& problem, const std::string& recipe, bool module_cast, const std::string& field) const;

  std::filesystem::path folder_;
  Json document_;
  Provenance provenance_;
  std::map<std::string, const Json*> by_problem_;
  std::unique_ptr<Recording> base_;
};

}  // namespace ropewalk
