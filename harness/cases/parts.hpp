// The parts of a case file; only for the files of this folder.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"
#include "harness/cases/model_config.hpp"

namespace ropewalk {

struct GridPoint;

// A model with one of its kinds of layer.
struct ModelPoint {
  std::string name;
  ModelConfig config;
  ModelLayer layer;  // its type is empty where the model's kinds of layer do not differ
};

// One field of a block (rope, attention, lora, state) with its values: as they stand in ids and reports, and where each
// is written.
struct Axis {
  struct Value {
    Json param;
    Positions positions;  // of the axes max_position and positions
    Field where;
    std::shared_ptr<const ModelPoint> model = {};  // of the axis model_config
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
  State state;
  std::shared_ptr<const ModelPoint> model = {};  // where a model_config says rope and attention
};

// How a field of a block is read, and what it sets.
struct FieldRule {
  std::string_view name;
  bool needed;
  Axis::Value (*read)(const Field&);
  void (*set)(GridPoint&, const Axis::Value&);
};

// A list, {"from", "to", "step"}, {"log_spaced", "count"}, {"axes"} or {"tokens"}. `own`: the model's maximum, for the
// word max_position; 0: there is no model.
Positions read_positions(const Field& field, std::int64_t own = 0);
std::string text_of_positions(const Field& field);  // of one that read_positions took: "log_spaced(0..1048575;64)"
Positions read_max_position(const Field& field);
// {"axes": [[...], ...]}, {"tokens": [n, [t, h, w], ...]}, and what ids say of them.
constexpr std::size_t kMostAxes = 4;
Positions read_axis_lists(const Field& field);
Positions read_tokens(const Field& field, std::int64_t own);
std::string text_of_axis_lists(const Field& field);
std::string text_of_tokens(const Field& field);

constexpr std::int64_t kPastLastPosition = std::int64_t{1} << 24;  // the reference's bounds hold below it
std::int64_t position_in(const Field& field);                      // 0 .. kPastLastPosition - 1
std::int64_t count_in(const Field& field);                         // 1 .. kPastLastPosition

Axis read_axis(const FieldRule& rule, const Field& field);
std::vector<Axis> read_axes(const Field& block, std::span<const FieldRule> rules);
// The rope block, and `positions` where it stands beside it. `by_state`: the lengths of a state block say the
// positions.
std::vector<Axis> read_rope_axes(const Field& rope, const std::optional<Field>& positions_beside, bool by_state);
// The same where a model_config says all but the positions; the rope block may then be absent.
std::vector<Axis> read_model_axes(const Object& the_case, Kind kind, bool by_state);
// The model's config.json says them, unless they are written.
std::vector<Axis> read_attention_axes(const Field& attention, bool of_model);
void need_what_attention_needs(const std::vector<GridPoint>& points, const Object& the_case,
                               const std::vector<CheckSpec>& checks);
std::vector<GridPoint> expand(const std::vector<Axis>& axes, const Field& where);
std::span<const FieldRule> attention_rules();
std::span<const FieldRule> lora_rules();
std::span<const FieldRule> state_rules();
void check_state(const Object& the_case);    // refuses what does not go with the state block that it has
std::span<const FieldRule> scaling_rules();  // fields of the rope block
std::span<const FieldRule> axes_rules();     // the same
// Sections that make up the pairs, a width that has halves; `block` is where they are written.
void check_axes(const Rope& rope, const Field& block);
void check_sections(const Rope& rope, const Field& field);
void check_axes_of_positions(const GridPoint& point, const Field& positions);
// What goes with the kind of scaling: fields that it needs, fields that it has none of, lists of the right length.
void check_scaling(const Rope& rope, const Field& block);
struct ScalingFields {  // that a kind of scaling has beside `scaling` itself
  std::vector<std::string_view> needed, allowed;
  bool has(std::string_view name) const;
};
ScalingFields scaling_fields(reference::Scaling::Type type);

// What a product may contain that no field alone shows: odd rotary widths, heads that do not divide. Throws BadInput.
// `block`: rope or lora.
void check_points(Kind kind, const std::vector<GridPoint>& points, const std::vector<Axis>& axes, const Field& block);

std::vector<SubjectSpec> read_subjects(const Field& list, Kind kind);
// What goes with calls only, and what has none.
void check_state_subjects(const std::vector<SubjectSpec>& subjects, const Field& list, bool with_state);

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
