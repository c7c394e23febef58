#include <cstring>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/golden/manifest.hpp"
#include "harness/golden/sha256.hpp"
#include "harness/recordings/recording.hpp"
#include "harness/recordings/stored.hpp"
#include "harness/report/json.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

// The places where two tensors of one dtype and shape have other bits.
std::vector<std::int64_t> differing(const Tensor& a, const Tensor& b) {
  std::vector<std::int64_t> out;
  const std::size_t width = bytes_of(a.dtype());
  const auto x = a.bytes(), y = b.bytes();
  for (std::size_t i = 0; i < x.size(); i += width)
    if (std::memcmp(&x[i], &y[i], width) != 0) out.push_back(static_cast<std::int64_t>(i / width));
  return out;
}

void store_differing(const std::string& name, const Tensor& tensor, const std::vector<std::int64_t>& at,
                     std::map<std::string, Tensor>& file) {
  const Shape shape{static_cast<std::int64_t>(at.size())};
  const std::size_t width = bytes_of(tensor.dtype());
  Tensor index(DType::int64, shape), bits(bits_dtype(tensor.dtype()), shape);
  for (std::size_t i = 0; i < at.size(); ++i) {
    index.as<std::int64_t>()[i] = at[i];
    std::memcpy(&bits.bytes()[i * width], &tensor.bytes()[static_cast<std::size_t>(at[i]) * width], width);
  }
  file.emplace(index_name(name), index);
  file.emplace(bits_name(name), bits);
}

}  // namespace

RecordingWriter::RecordingWriter(fs::path folder, const fs::path& against, Provenance provenance)
    : folder_(std::move(folder)), base_folder_(against), provenance_(std::move(provenance)) {
  if (!against.empty()) {
    base_ = std::make_unique<Recording>(against);
    if (base_->against_another())
      throw BadInput("--against", "", against.string(), "a recording that is not itself stored against another");
  }
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) throw BadInput("--out", "", folder_.string(), "cannot be made: " + problem.message());
  if (!fs::is_empty(folder_, problem) || problem)
    throw BadInput("--out", "", folder_.string(), "a folder that is new or empty");
}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::add(const Case& problem, const std::vector<RecordedRun>& runs) {
  const std::string text = problem_text(problem);
  std::map<std::string, Tensor> file;
  Json written = Json::array();
  for (const RecordedRun& run : runs) {
    std::map<std::string, Tensor> base;
    if (base_ && base_->has(text, run.recipe, run.module_cast)) {
      base_->need(problem, run.recipe, run.module_cast, "--against");
      base = base_->read(problem, run.recipe, run.module_cast).stages;
    }
    Json stages = Json::array();
    for (const auto& [stage, tensor] : run.stages) {
      const std::string name = tensor_name(run.recipe, run.module_cast, stage);
      Json entry{{"stage", stage}, {"dtype", name_of(tensor.dtype())}, {"shape", tensor.shape()}};
      const auto found = base.find(stage);
      const bool same_form =
          found != base.end() && found->second.dtype() == tensor.dtype() && found->second.shape() == tensor.shape();
      const auto at = same_form ? differing(tensor, found->second) : std::vector<std::int64_t>{};
      totals_.elements += tensor.size();
      ++totals_.tensors;
      // An index and the bits of each: no gain from about a third of the elements on.
      if (same_form && static_cast<std::int64_t>(at.size()) * 3 <= tensor.size()) {
        entry["differing"] = at.size();
        if (!at.empty()) store_differing(name, tensor, at, file);
        totals_.stored += static_cast<std::int64_t>(at.size());
      } else {
        entry["differing"] = nullptr;
        file.emplace(name, copy_of(tensor));
        totals_.stored += tensor.size();
      }
      stages.push_back(std::move(entry));
    }
    written.push_back({{"recipe", run.recipe},
                       {"module_cast", run.module_cast},
                       {"stages", std::move(stages)},
                       {"failed", run.failed},
                       {"undetermined", run.undetermined},
                       {"skipped", run.skipped.empty() ? Json() : Json(run.skipped)}});
  }
  Json entry{{"case", problem.id}, {"problem", text}, {"file", nullptr}, {"sha256", nullptr}};
  if (!file.empty()) {
    const std::string name = golden_file_name(problem.id);
    write_safetensors(folder_ / name, file, {{"case", problem.id}});
    entry["file"] = name;
    entry["sha256"] = sha256_of(folder_ / name);
    ++totals_.files;
  }
  entry["runs"] = std::move(written);
  entries_.push_back(std::move(entry));
}

void RecordingWriter::finish() {
  Json against;
  if (base_)
    against = {{"folder", fs::relative(fs::absolute(base_folder_), fs::absolute(folder_)).generic_string()},
               {"manifest_sha256", sha256_of(base_folder_ / kManifest)}};
  write_report(
      folder_ / kManifest,
      {{"schema_version", 1},
       {"generator", {{"name", "ropewalk"}, {"version", golden_version()}}},
       {"device",
        {{"name", provenance_.device}, {"versions", provenance_.versions}, {"emulated", provenance_.emulated}}},
       {"environment", provenance_.environment},
       {"against", against},
       {"cases", entries_}});
}

}  // namespace ropewalk
