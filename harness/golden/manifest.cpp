#include "harness/golden/manifest.hpp"

#include <algorithm>
#include <set>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

Json to_json(const GoldenTensor& tensor, const std::string& sha256, const reference::Proof& proof) {
  return {{"name", tensor.name},
          {"stage", tensor.stage},
          {"dtype", name_of(tensor.dtype)},
          {"shape", tensor.shape},
          {"sha256", sha256},
          {"formula", tensor.formula},
          {"proof",
           {{"of", tensor.proved_by},
            {"fast", proof.fast},
            {"fallback", proof.fallback},
            {"exact", proof.exact},
            {"midpoints", proof.midpoints},
            {"undecided", proof.undecided}}}};
}

}  // namespace

std::string golden_version() { return ROPEWALK_VERSION; }

std::string golden_file_name(const std::string& case_id) {
  std::string name = case_id.substr(case_id.find('/') + 1);
  std::replace(name.begin(), name.end(), '/', '-');
  return name + ".safetensors";
}

SafetensorsLayout layout_of(const GoldenFile& golden, const std::string& case_id) {
  std::vector<NamedShape> shapes;
  for (const GoldenTensor& tensor : golden.tensors) shapes.push_back({tensor.name, tensor.dtype, tensor.shape});
  return safetensors_layout(shapes, {{"case", case_id}});
}

Json entry_of(const GoldenFile& golden, const std::string& case_id, const Made& made) {
  Json tensors = Json::array();
  for (std::size_t t = 0; t < golden.tensors.size(); ++t)
    tensors.push_back(to_json(golden.tensors[t], made.tensors_sha256[t], made.proofs[t]));
  return {{"file", golden_file_name(case_id)}, {"sha256", made.sha256},        {"case", case_id}, {"kind", golden.kind},
          {"parameters", golden.parameters},   {"tensors", std::move(tensors)}};
}

GoldenTotals& GoldenTotals::operator+=(const GoldenTotals& other) {
  files += other.files;
  tensors += other.tensors;
  bytes += other.bytes;
  proof += other.proof;
  return *this;
}

GoldenTotals totals_of(const GoldenFile& golden, const SafetensorsLayout& layout, const Made& made) {
  GoldenTotals totals{1, static_cast<std::int64_t>(golden.tensors.size()), static_cast<std::int64_t>(layout.size), {}};
  for (std::size_t t = 0; t < golden.tensors.size(); ++t)
    if (golden.tensors[t].proved_by.front() == golden.tensors[t].name) totals.proof += made.proofs[t];
  return totals;
}

Json manifest_of(std::vector<Json> entries) {
  return {{"schema_version", 1},
          {"generator", {{"name", "ropewalk"}, {"version", golden_version()}}},
          {"files", std::move(entries)}};
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kManifest;
  const Json document = read_json_file(file);
  const Object object(Field(file.string(), "", document), {"schema_version", "generator", "files"});
  need_schema_version_1(object);
  Manifest manifest;
  const Object generator(object.need("generator"), {"name", "version"});
  if (generator.need("name").text() != "ropewalk") generator.need("name").refuse("ropewalk");
  manifest.version = generator.need("version").text();
  std::set<std::string> names;
  for (const Field& field : object.need("files").items()) {
    const Object entry(field, {"file", "sha256", "case", "kind", "parameters", "tensors"});
    const std::string name = entry.need("file").text(), case_id = entry.need("case").text();
    if (name != golden_file_name(case_id)) entry.need("file").refuse(golden_file_name(case_id) + ", after the case");
    entry.need("sha256").text();
    if (!names.insert(name).second) entry.need("file").refuse("each file once");
    manifest.entries.push_back({name, case_id, golden_from(entry.need("kind"), entry.need("parameters"), case_id),
                                field.json(), field.path()});
  }
  return manifest;
}

}  // namespace ropewalk
