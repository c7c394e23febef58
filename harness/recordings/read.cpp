#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/golden/manifest.hpp"
#include "harness/golden/sha256.hpp"
#include "harness/recordings/recording.hpp"
#include "harness/recordings/stored.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

bool is_null(const Field& field) { return field.json().is_null(); }

// One recipe of a recorded case, in form.
void check_run(const Field& field) {
  const Object run(field, {"recipe", "module_cast", "stages", "failed", "undetermined", "skipped"});
  run.need("recipe").name();
  run.need("module_cast").flag();
  for (const auto& [stage, why] : run.need("failed").json().items())
    if (!why.is_string()) run.need("failed").refuse("a text for each stage is needed");
  if (run.need("undetermined").whole() < 0) run.need("undetermined").refuse("a count is needed");
  if (!is_null(run.need("skipped"))) run.need("skipped").text();
  if (run.need("stages").json().is_array() && run.need("stages").json().empty()) return;
  for (const Field& item : run.need("stages").items()) {
    const Object stage(item, {"stage", "dtype", "shape", "differing"});
    stage.need("stage").name();
    if (!dtype_named(stage.need("dtype").text())) stage.need("dtype").refuse("a dtype is needed");
    if (!stage.need("shape").json().is_array()) stage.need("shape").refuse("a list of sizes is needed");
    for (const auto& size : stage.need("shape").json())
      if (!size.is_number_unsigned()) stage.need("shape").refuse("a list of sizes is needed");
    if (!is_null(stage.need("differing")) && stage.need("differing").whole() < 0)
      stage.need("differing").refuse("a count or null is needed");
  }
}

bool is(const Json& run, const std::string& recipe, bool module_cast) {
  return run["recipe"] == recipe && run["module_cast"] == module_cast;
}

std::string label(const Json& run) {
  return run["recipe"].get<std::string>() + (run["module_cast"].get<bool>() ? " with module_cast" : "");
}

// `base` with the elements that differ.
Tensor patched(const Tensor& base, const Tensor& index, const Tensor& bits, const std::string& file,
               const std::string& name) {
  Tensor out = copy_of(base);
  const std::size_t width = bytes_of(out.dtype());
  if (index.dtype() != DType::int64 || bits.dtype() != bits_dtype(out.dtype()) || index.shape() != bits.shape())
    throw BadInput(file, name, "", "an index in int64 and as many elements of its width are needed");
  const auto at = index.as<std::int64_t>();
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= out.size())
      throw BadInput(file, index_name(name), std::to_string(at[i]), fmt::format("0 to {}", out.size() - 1));
    std::memcpy(&out.bytes()[static_cast<std::size_t>(at[i]) * width], &bits.bytes()[i * width], width);
  }
  return out;
}

}  // namespace

Recording::Recording(const fs::path& folder) : folder_(folder) {
  const fs::path file = folder / kManifest;
  if (!fs::is_directory(folder))
    throw BadInput(folder.string(), "", "", "no such folder; one that ropewalk record wrote is needed");
  document_ = read_json_file(file);
  const Object object(Field(file.string(), "", document_),
                      {"schema_version", "generator", "device", "environment", "against", "cases"});
  need_schema_version_1(object);
  const Object device(object.need("device"), {"name", "versions", "emulated"});
  provenance_ = {device.need("name").name(), device.need("versions").text(), device.need("emulated").flag(),
                 object.need("environment").json()};
  std::set<std::string> files;
  for (const Field& field : object.need("cases").items()) {
    const Object entry(field, {"case", "problem", "file", "sha256", "runs"});
    const std::string id = entry.need("case").text();
    if (!is_null(entry.need("file"))) {
      const std::string name = entry.need("file").text();
      if (name != golden_file_name(id)) entry.need("file").refuse(golden_file_name(id) + ", after the case");
      entry.need("sha256").text();
      if (!files.insert(name).second) entry.need("file").refuse("each file once");
    }
    for (const Field& run : entry.need("runs").items()) check_run(run);
    by_problem_.emplace(entry.need("problem").text(), &field.json());
  }
  if (is_null(object.need("against"))) return;
  const Object against(object.need("against"), {"folder", "manifest_sha256"});
  const fs::path base = (folder / against.need("folder").text()).lexically_normal();
  base_ = std::make_unique<Recording>(base);
  if (base_->against_another())
    against.need("folder").refuse("a recording that is not itself stored against another is needed");
  if (sha256_of(base / kManifest) != against.need("manifest_sha256").text())
    against.need("manifest_sha256").refuse(base.string() + " is another recording than the one that this one needs");
}

Recording::~Recording() = default;

bool Recording::has(const std::string& problem, const std::string& recipe, bool module_cast) const {
  const auto found = by_problem_.find(problem);
  if (found == by_problem_.end()) return false;
  const Json& runs = (*found->second)["runs"];
  return std::any_of(runs.begin(), runs.end(), [&](const Json& run) { return is(run, recipe, module_cast); });
}

const Json& Recording::run(const Case& problem, const std::string& recipe, bool module_cast,
                           const std::string& field) const {
  const auto found = by_problem_.find(problem_text(problem));
  if (found == by_problem_.end())
    throw BadInput(problem.file, field, folder_.string(),
                   fmt::format("nothing was recorded for {}; it has {} cases, the first is {}", problem.id,
                               document_["cases"].size(), document_["cases"][0]["case"].get<std::string>()));
  const Json& runs = (*found->second)["runs"];
  if (recipe.empty() && runs.size() == 1) return runs[0];
  for (const Json& one : runs)
    if (!recipe.empty() && is(one, recipe, module_cast)) return one;
  std::vector<std::string> known;
  for (const Json& one : runs) known.push_back(label(one));
  const std::string wanted = recipe + (module_cast ? " with module_cast" : "");
  throw BadInput(problem.file, field, folder_.string(),
                 (recipe.empty() ? "several recipes were recorded, name one with \"recipe\": "
                                 : wanted + " was not recorded, but: ") +
                     joined(known));
}

void Recording::need(const Case& problem, const std::string& recipe, bool module_cast, const std::string& field) const {
  run(problem, recipe, module_cast, field);
  const std::string text = problem_text(problem);
  check_file(*by_problem_.at(text));
  if (base_)
    if (const auto found = base_->by_problem_.find(text); found != base_->by_problem_.end())
      base_->check_file(*found->second);
}

void Recording::check_file(const Json& entry) const {
  if (entry["file"].is_null()) return;
  const fs::path file = folder_ / entry["file"].get<std::string>();
  if (!fs::exists(file)) throw BadInput(file.string(), "", "", "this file of the recording is missing");
  if (sha256_of(file) != entry["sha256"].get<std::string>())
    throw BadInput(file.string(), "sha256", "", "the file is not the one that was recorded: its bytes have changed");
}

RecordedRun Recording::read(const Case& problem, const std::string& recipe, bool module_cast) const {
  const Json& recorded = run(problem, recipe, module_cast, "recording");  // throws for another problem
  const Json& entry = *by_problem_.at(problem_text(problem));
  RecordedRun out{recorded["recipe"].get<std::string>(),
                  recorded["module_cast"].get<bool>(),
                  {},
                  recorded["failed"].get<std::map<std::string, std::string>>(),
                  recorded["skipped"].is_null() ? "" : recorded["skipped"].get<std::string>(),
                  recorded["undetermined"].get<std::int64_t>()};
  std::map<std::string, Tensor> stored, base;
  const std::string file = entry["file"].is_null() ? "" : (folder_ / entry["file"].get<std::string>()).string();
  if (!file.empty()) stored = read_safetensors(file);
  if (base_ && base_->has(problem_text(problem), out.recipe, out.module_cast))
    base = base_->read(problem, out.recipe, out.module_cast).stages;
  const auto need = [&](const std::string& name) -> const Tensor& {
    const auto found = stored.find(name);
    if (found == stored.end()) throw BadInput(file, name, "", "the manifest names this tensor, and the file lacks it");
    return found->second;
  };
  for (const Json& stage : recorded["stages"]) {
    const auto name = tensor_name(out.recipe, out.module_cast, stage["stage"].get<std::string>());
    Tensor tensor;
    if (stage["differing"].is_null()) {
      tensor = need(name);
    } else {
      const auto found = base.find(stage["stage"].get<std::string>());
      if (found == base.end())
        throw BadInput(folder_.string(), name, "", "the recording that it is stored against lacks this tensor");
      tensor = stage["differing"] == 0
                   ? found->second
                   : patched(found->second, need(index_name(name)), need(bits_name(name)), file, name);
    }
    if (name_of(tensor.dtype()) != stage["dtype"].get<std::string>() || tensor.shape() != stage["shape"].get<Shape>())
      throw BadInput(file, name, "", "dtype and shape are not those of the manifest");
    out.stages.emplace(stage["stage"].get<std::string>(), std::move(tensor));
  }
  return out;
}

}  // namespace ropewalk
