#include "harness/diagnosis/failing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/fields.hpp"
#include "harness/checks/running.hpp"
#include "harness/checks/truth.hpp"
#include "harness/diagnosis/rows.hpp"
#include "harness/report/text.hpp"
#include "harness/tensors/read_tensors.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

std::string as_file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::string_view("/\\: '\"").find(c) != std::string_view::npos; },
      '_');
  constexpr std::size_t kLongest = 180;  // of the 255 bytes that file systems allow
  return text.size() > kLongest ? text.substr(0, kLongest) : text;
}

Stages exact_stages(const Case& problem) {
  Truth truth(problem.rope, problem.positions);
  const auto& exact = truth.frequencies();
  const std::int64_t rows = problem.positions.count(), pairs = exact.size();
  truth.start_block(0, rows);
  const reference::SinCos& values = truth.of_exact();
  Stages out;
  out["positions"] = row_positions(problem.positions, problem.rope.axes());
  std::vector<double> frequencies, angles, rounded(values.cos.size());
  for (int j = 0; j < exact.size(); ++j) frequencies.push_back(exact.head(j));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto of_pairs = truth.positions_of_pairs(static_cast<std::size_t>(i));
    for (int j = 0; j < exact.size(); ++j)  // head and tail of the product in one rounding
      angles.push_back(std::fma(of_pairs[j], exact.head(j), of_pairs[j] * exact.tail(j)));
  }
  out["inv_freq"] = from_doubles(DType::float64, {pairs}, frequencies);
  out["angle"] = from_doubles(DType::float64, {rows, pairs}, angles);
  reference::Proof proof;
  const auto format = format_of(problem.dtype);
  reference::round_to(format, values.cos, values.cos_tail, rounded, proof);
  out["cos"] = from_doubles(problem.dtype, {rows, pairs}, rounded);
  reference::round_to(format, values.sin, values.sin_tail, rounded, proof);
  out["sin"] = from_doubles(problem.dtype, {rows, pairs}, rounded);
  return out;
}

Json json_of(const Case& problem, const std::vector<const Result*>& failing) {
  Json results = Json::array();
  for (const Result* r : failing)
    results.push_back({{"id", r->id},
                       {"stage", r->stage},
                       {"verdict", name_of(r->verdict)},
                       {"expected", name_of(r->expected)},
                       {"first_stage", r->first_stage},
                       {"reason", r->reason},
                       {"rerun", r->rerun}});
  return {{"schema_version", 1},
          {"case", problem.id},
          {"case_file", problem.file},
          {"rope",
           {{"head_dim", problem.rope.head_dim},
            {"base", problem.rope.base},
            {"partial_rotary_factor", problem.rope.partial_rotary_factor},
            {"scaling", scaling_block(problem.rope)},
            {"axes", axes_block(problem.rope)}}},
          {"dtype", name_of(problem.dtype)},
          {"subjects", Json::array()},
          {"reference", "reference.safetensors"},
          {"results", results}};
}

// [rows] or, of several axes, [rows, axes]; where all are alike, as text has them, once.
void take_positions(const std::vector<double>& values, Known& known) {
  const auto axes = static_cast<std::size_t>(known.several_axes.axes());
  std::vector<std::vector<std::int64_t>> lists(axes);
  for (std::size_t i = 0; i < values.size(); ++i) lists[i % axes].push_back(static_cast<std::int64_t>(values[i]));
  const bool alike = std::all_of(lists.begin(), lists.end(), [&](const auto& list) { return list == lists[0]; });
  if (axes == 1)
    known.positions = std::move(lists[0]);
  else if (alike)
    known.on_axes.list = std::move(lists[0]);
  else
    known.on_axes.axes = std::move(lists);
}

}  // namespace

Dump dump_of_subject(const SubjectSpec& spec, const Case& problem, SubjectPool& pool) {
  Running running = start(spec, problem, pool);
  if (running.broken) throw SubjectError(running.reason);
  Dump dump;
  dump.file = running.info.name;
  dump.problem = problem;
  dump.positions_are_truth = false;
  guarded(running, [&] {
    for (const auto& [stage, tensor] : running.subject->rows(0, problem.positions.count()))
      dump.stages[stage] = copy_of(tensor);
  });
  if (running.broken) throw SubjectError(running.reason);
  pool.give_back(spec, problem, std::move(running.subject));
  return dump;
}

std::optional<fs::path> save_failing(const fs::path& folder, const Case& problem,
                                     const std::vector<const Result*>& failing, SubjectPool& pool) {
  if (problem.kind() != Kind::table || problem.state) return {};
  const fs::path place = folder / as_file_name(problem.id);
  std::error_code error;
  fs::create_directories(place, error);
  if (error) throw BadInput("--save-failing", "", place.string(), "a folder that can be made: " + error.message());
  Json about = json_of(problem, failing);
  std::set<std::string> done;
  for (const Result* result : failing) {
    for (const SubjectInfo& info : result->subjects) {
      const auto spec = std::find_if(problem.subjects.begin(), problem.subjects.end(),
                                     [&](const SubjectSpec& s) { return s.name == info.name; });
      if (spec == problem.subjects.end() || !done.insert(info.name).second) continue;
      try {
        const std::string file = as_file_name(info.name) + ".safetensors";
        write_safetensors(place / file, dump_of_subject(*spec, problem, pool).stages);
        about["subjects"].push_back({{"name", info.name}, {"file", file}, {"claims", info.claims}});
      } catch (const SubjectError& e) {
        about["subjects"].push_back({{"name", info.name}, {"file", nullptr}, {"reason", e.what()}});
      }
    }
  }
  write_safetensors(place / "reference.safetensors", exact_stages(problem));
  about["check"] = "ropewalk check --tensors " + quoted(place.string());
  std::ofstream out(place / kFailingFile);
  out << about.dump(2) << "\n";
  if (!out.flush()) throw BadInput((place / kFailingFile).string(), "", "", "a file that can be written");
  return place;
}

Failing read_failing(const fs::path& folder) {
  const fs::path file = folder / kFailingFile;
  if (!fs::exists(file))
    throw BadInput(folder.string(), "", "",
                   std::string("a folder with ") + kFailingFile + " is needed, as run --save-failing makes them");
  const Json document = read_json_file(file);
  const Field whole(file.string(), "", document);
  const auto member = [](const Field& object, const char* name) {
    if (!object.json().is_object() || !object.json().contains(name)) object.refuse(std::string(name) + " is missing");
    return object.inside(name, object.json()[name]);
  };
  Failing out;
  const Field rope = member(whole, "rope");
  out.known.base = member(rope, "base").number();
  out.known.head_dim = member(rope, "head_dim").whole();
  out.known.partial_rotary_factor = member(rope, "partial_rotary_factor").number();
  out.known.scaling = read_scaling_block(member(rope, "scaling"));
  out.known.source = file.string();
  if (rope.json().contains("axes") && !rope.json()["axes"].is_null()) {
    out.known.several_axes.head_dim = *out.known.head_dim;
    out.known.several_axes.partial_rotary_factor = *out.known.partial_rotary_factor;
    out.known.several_axes.scaling = out.known.scaling;
    read_axes_block(member(rope, "axes"), out.known.several_axes);
  }
  const Field dtype = member(whole, "dtype");
  out.known.dtype = dtype_named(dtype.text());
  if (!out.known.dtype || !is_floating(*out.known.dtype)) dtype.refuse("one of float64, float32, bfloat16, float16");
  for (const Field& subject : member(whole, "subjects").items()) {
    if (member(subject, "file").json().is_null()) continue;
    if (out.subjects.empty()) out.claims = member(subject, "claims").text();
    out.subjects.push_back(folder / member(subject, "file").text());
  }
  if (out.subjects.empty()) member(whole, "subjects").refuse("no subject left tensors here");
  const auto reference = read_tensors(folder / member(whole, "reference").text());
  if (!reference.contains("positions")) throw BadInput(folder.string(), "reference", "", "no positions in it");
  take_positions(to_doubles(reference.at("positions")), out.known);
  return out;
}

}  // namespace ropewalk
