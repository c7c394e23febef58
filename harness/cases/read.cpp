#include <fmt/format.h>

#include <set>

#include "harness/cases/cell.hpp"
#include "harness/cases/derived.hpp"
#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 4> kCaseDTypes{"float64", "float32", "bfloat16", "float16"};

std::vector<DType> read_dtypes(const Field& field) {
  std::vector<DType> out;
  std::set<DType> seen;
  for (const Field& item : field.one_or_more()) {
    out.push_back(*dtype_named(kCaseDTypes[item.choice(kCaseDTypes)]));
    if (!seen.insert(out.back()).second) item.refuse("each one once");
  }
  return out;
}

// A rope block with or without attention, or a lora block.
std::vector<Axis> read_problem(const Object& object, Kind kind) {
  if (kind == Kind::lora) {
    for (const char* other : {"rope", "attention", "positions", "model_config", "layer_type", "state"})
      if (object.has(other)) object.need(other).refuse("this does not go with a lora block");
    return read_axes(object.need("lora"), lora_rules());
  }
  const bool of_model = object.has("model_config");
  if (!of_model && object.has("layer_type")) object.need("layer_type").refuse("this goes with a model_config only");
  const bool by_state = object.has("state");
  if (by_state) check_state(object);
  std::vector<Axis> axes = of_model ? read_model_axes(object, kind, by_state)
                                    : read_rope_axes(object.need("rope"), object.find("positions"), by_state);
  if (by_state)
    for (Axis& axis : read_axes(object.need("state"), state_rules())) axes.push_back(std::move(axis));
  if (kind == Kind::attention)
    for (Axis& axis : read_attention_axes(object.need("attention"), of_model)) axes.push_back(std::move(axis));
  return axes;
}

Kind kind_of(const Object& object) {
  return object.has("lora") ? Kind::lora : object.has("attention") ? Kind::attention : Kind::table;
}

void set_problem(const GridPoint& point, Kind kind, Case& cell) {
  cell.params = point.params;
  cell.rope = point.rope;
  cell.positions = point.positions;
  if (cell.rope.scaling.length == 0) cell.rope.scaling.length = static_cast<double>(point.positions.largest() + 1);
  if (kind == Kind::attention) {
    cell.attention = point.attention;
    if (point.positions.axes.empty()) {  // of positions that are alike on all axes, one does
      cell.rope.mrope_section.clear();
      cell.rope.mrope_interleaved = false;
    }
  }
  if (kind == Kind::lora) cell.lora = point.lora;
  if (!point.state.lengths.empty()) cell.state = point.state;
}

// One declared case: its cells in the order of the product, dtypes innermost.
void read_case(const Field& field, const std::string& suite, std::int64_t declaration, bool tested,
               std::vector<Case>& out) {
  const Object object(field, {"note", "name", "model_config", "layer_type", "rope", "positions", "attention", "lora",
                              "state", "dtype", "subjects", "checks"});
  if (const auto note = object.find("note")) note->text();
  const std::string name = object.need("name").name();
  const Kind kind = kind_of(object);
  const auto axes = read_problem(object, kind);
  const Field block = object.need(kind == Kind::lora ? "lora" : object.has("model_config") ? "model_config" : "rope");
  const auto points = expand(axes, block);
  check_points(kind, points, axes, block);
  const auto dtypes = read_dtypes(object.need("dtype"));
  std::vector<SubjectSpec> subjects;
  std::vector<CheckSpec> checks;
  if (tested || object.has("subjects") || object.has("checks")) {
    subjects = read_subjects(object.need("subjects"), kind);
    check_state_subjects(subjects, object.need("subjects"), object.has("state"));
    checks = read_checks(object.need("checks"), {kind, axes, dtypes, subjects});
  }
  if (kind == Kind::attention && object.has("model_config")) need_what_attention_needs(points, object, checks);
  for (const GridPoint& point : points) {
    for (const DType dtype : dtypes) {
      Case cell;
      cell.id = fmt::format("{}/{}/{}/{}", suite, name, point.id, name_of(dtype));
      cell.file = field.file();
      cell.suite = suite;
      cell.name = name;
      set_problem(point, kind, cell);
      cell.dtype = dtype;
      if (point.model) cell.derived = derived_from(point.model->config, point.model->layer, cell);
      cell.subjects = subjects;
      cell.checks = checks;
      cell.declaration = declaration;
      out.push_back(std::move(cell));
    }
  }
}

std::vector<Case> read_cases(const std::filesystem::path& file, bool tested) {
  const Json document = read_json_file(file);
  const Object object(Field(file.string(), "", document), {"schema_version", "note", "name", "cases"});
  need_schema_version_1(object);
  if (const auto note = object.find("note")) note->text();
  const std::string suite = object.need("name").name();
  std::vector<Case> out;
  std::set<std::string> names;
  std::int64_t declaration = 0;
  for (const Field& field : object.need("cases").items()) {
    read_case(field, suite, declaration++, tested, out);
    if (!names.insert(out.back().name).second)
      field.inside("name", field.json()["name"]).refuse("an earlier case has this name; names are unique");
  }
  return out;
}

}  // namespace

Case read_cell(const Object& blocks) {
  const Kind kind = kind_of(blocks);
  const auto axes = read_problem(blocks, kind);
  for (const Axis& axis : axes)
    if (axis.values.size() != 1) axis.values.back().where.refuse("one value of this field is needed");
  const Field block = blocks.need(kind == Kind::lora ? "lora" : "rope");
  const auto points = expand(axes, block);
  check_points(kind, points, axes, block);
  Case cell;
  cell.file = blocks.field().file();
  set_problem(points.front(), kind, cell);
  return cell;
}

std::vector<Case> read_case_file(const std::filesystem::path& file) { return read_cases(file, true); }
std::vector<Case> read_golden_case_file(const std::filesystem::path& file) { return read_cases(file, false); }

}  // namespace ropewalk
