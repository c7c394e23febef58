// The parts of a case file; only for the files of this folder.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {

struct GridPoint;

// One field of a block (rope, attention, lora) with its values: as they stand in ids and reports, and where each is
// written.
struct Axis {
  struct Value {
    Json param;
    Positions positions;  // of the axes max_position and positions
    Field where;
  };
  std::string name;
  void (*set)(GridPoint&, const Value&) = nullptr;
  std::vector<Value> values;
  bool takes(const nlohmann::json& param) const;
};

// One point of the product of the axes.
struct GridPoint {
  Json params;
  std::string id;  // "head_dim=64,base=10000"
  Rope rope;
  Positions positions;
  Attention attention;
  Lora lora;
};

// How a field of a block is read, and what it sets.
struct FieldRule {
  std::string_view name;
  bool needed;
  Axis::Value (*read)(const Field&);
  void (*set)(GridPoint&, const Axis::Value&);
};

Positions read_positions(const Field& field);       // a list, {"from", "to", "step"} or {"log_spaced", "count"}
std::string text_of_positions(const Field& field);  // of one that read_positions took: "log_spaced(0..1048575;64)"
Positions read_max_position(const Field& field);

std::vector<Axis> read_axes(const Field& block, std::span<const FieldRule> rules);
// The rope block, and `positions` where it stands beside it.
std::vector<Axis> read_rope_axes(const Field& rope, const std::optional<Field>& positions_beside);
std::vector<GridPoint> expand(const std::vector<Axis>& axes, const Field& where);
std::span<const FieldRule> attention_rules();
std::span<const FieldRule> lora_rules();
std::span<const FieldRule> scaling_rules();  // fields of the rope block
// What goes with the kind of scaling: fields that it needs, fields that it has none of, lists of the right length.
void check_scaling(const Rope& rope, const Field& block);

// What a product may contain that no field alone shows: odd rotary widths, heads that do not divide. Throws BadInput.
// `block`: rope or lora.
void check_points(Kind kind, const std::vector<GridPoint>& points, const std::vector<Axis>& axes, const Field& block);

std::vector<SubjectSpec> read_subjects(const Field& list, Kind kind);

// What the checks of a case may refer to.
struct Surroundings {
  Kind kind;
  const std::vector<Axis>& axes;
  const std::vector<DType>& dtypes;
  const std::vector<SubjectSpec>& subjects;
};
std::vector<CheckSpec> read_checks(const Field& list, const Surroundings& around);
std::vector<Expectation> read_expectations(const Field& list, const CheckSpec& check, const Surroundings& around);

}  // namespace ropewalk
