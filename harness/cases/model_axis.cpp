// The axis model_config of a case's grid: a model, or a list of them, each with its kinds of layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 2> kWanted{"full_attention", "sliding_attention"};

// models/Llama-3.1-8B/config.json is Llama-3.1-8B, and so is configs/Llama-3.1-8B.json.
std::string short_name(const Field& path, const std::filesystem::path& file) {
  const bool by_folder = file.filename() == "config.json";
  const auto name = by_folder ? std::filesystem::absolute(file).parent_path().filename() : file.stem();
  const Json text = name.string();
  try {
    return Field(path.file(), path.path(), text).name();
  } catch (const BadInput&) {
    path.refuse(fmt::format("{}'s name, {}, stands in ids; it may have letters, digits and . _ @ + -",
                            by_folder ? "the folder" : "the file", name.string()));
  }
}

bool alike(const ModelLayer& a, const ModelLayer& b, Kind kind) {
  return a.rope == b.rope && (kind == Kind::table || a.window == b.window);
}

// The kinds of layer that are asked for, those alike only once; a model that has but one such needs no name for it.
std::vector<ModelLayer> layers_of(const Field& path, const ModelConfig& config, const std::set<std::string>& wanted,
                                  Kind kind) {
  std::vector<ModelLayer> layers;
  std::vector<std::string> there;
  bool one = true;
  for (const ModelLayer& layer : config.layers) {
    one = one && alike(layer, config.layers[0], kind);
    there.emplace_back(kind_of(layer));
    if (!wanted.empty() && !wanted.contains(there.back())) continue;
    if (std::none_of(layers.begin(), layers.end(), [&](const ModelLayer& l) { return alike(l, layer, kind); }))
      layers.push_back(layer);
  }
  if (layers.empty())
    path.refuse(fmt::format("this model has none of the kinds in layer_type, only {}", joined(there)));
  if (one) layers[0].type.clear();
  return layers;
}

// As an attention block has it: 0 is 1 / sqrt(head_dim), and then computed as the recipes do.
double scale_of(const ModelConfig& config, const Rope& rope) {
  const double usual = 1 / std::sqrt(static_cast<double>(rope.head_dim));
  return config.softmax_scale && *config.softmax_scale != usual ? *config.softmax_scale : 0;
}

// Stages at which more of attention counts than its rotation.
bool beyond_rotation(std::string_view stage, const Attention& attention) {
  const bool gradient = stage == "grad_q" || stage == "grad_k";
  return stage == "scores" || stage == "probabilities" || stage == "output" || stage == "grad_v" ||
         (gradient && attention.backward == "attention");
}

void set_model(GridPoint& point, const Axis::Value& value) {
  const ModelConfig& config = value.model->config;
  point.model = value.model;
  point.rope = value.model->layer.rope;
  point.attention.heads = config.heads;
  point.attention.kv_heads = config.kv_heads;
  point.attention.window = value.model->layer.window;
  point.attention.softcap = config.softcap;
  point.attention.pairing = config.pairing;
  point.attention.sinks = config.sinks;
  point.attention.scale = scale_of(config, point.rope);
}

Axis read_models(const Field& field, const std::set<std::string>& wanted, Kind kind) {
  Axis axis{"model_config", set_model, {}};
  std::set<std::string> names;
  for (const Field& path : field.one_or_more()) {
    const auto file = (std::filesystem::path(path.file()).parent_path() / path.text()).lexically_normal();
    const ModelConfig config = read_model_config(file);
    const std::string name = short_name(path, file);
    if (!names.insert(name).second) path.refuse(fmt::format("an earlier model is called {} too", name));
    for (const ModelLayer& layer : layers_of(path, config, wanted, kind))
      axis.values.push_back({name, {}, path, std::make_shared<ModelPoint>(ModelPoint{name, config, layer})});
  }
  return axis;
}

// Positions up to the model's own maximum: only known once the model is.
void set_positions(GridPoint& point, const Axis::Value& value) {
  const Json& json = value.where.json();
  const std::int64_t own = point.model->config.max_position;
  const bool word = json.is_object() && json.dump().find("\"max_position\"") != std::string::npos;
  if (word && own == 0)
    value.where.refuse(fmt::format("{}'s config.json states no max_position_embeddings", point.model->name));
  point.positions = word ? read_positions(value.where, own) : value.positions;
}

constexpr std::array<FieldRule, 2> kPositions{{
    {"max_position", false,
     [](const Field& field) {
       const Positions positions = read_max_position(field);
       return Axis::Value{positions.limit, positions, field};
     },
     [](GridPoint& point, const Axis::Value& value) { point.positions = value.positions; }},
    {"positions", false,
     [](const Field& field) {
       // With some maximum, to see whether all else is right.
       return Axis::Value{text_of_positions(field), read_positions(field, kPastLastPosition), field};
     },
     set_positions},
}};

// All that a rope block may hold beside a model_config, and what may stand beside the block.
std::vector<Axis> read_position_axes(const Object& the_case) {
  std::vector<Axis> axes;
  if (const auto rope = the_case.find("rope")) {
    for (const auto& [name, value] : rope->json().items())
      if (name != "max_position" && name != "positions")
        rope->inside(name, value)
            .refuse("the model_config says all but the positions; accepted: max_position, positions");
    axes = read_axes(*rope, kPositions);
  }
  if (const auto beside = the_case.find("positions")) axes.push_back(read_axis(kPositions[1], *beside));
  if (axes.empty()) the_case.need("positions");
  if (axes.size() > 1) axes[1].values[0].where.refuse("either max_position or positions, once");
  return axes;
}

}  // namespace

std::vector<Axis> read_model_axes(const Object& the_case, Kind kind, bool by_state) {
  std::set<std::string> wanted;
  if (const auto types = the_case.find("layer_type"))
    for (const Field& type : types->one_or_more()) wanted.emplace(kWanted[type.choice(kWanted)]);
  std::vector<Axis> axes{read_models(the_case.need("model_config"), wanted, kind)};
  if (by_state) {
    if (const auto rope = the_case.find("rope"))
      rope->refuse("the model_config and the lengths of the block state say all that stands here; leave it out");
    return axes;
  }
  for (Axis& axis : read_position_axes(the_case)) axes.push_back(std::move(axis));
  return axes;
}

void need_what_attention_needs(const std::vector<GridPoint>& points, const Object& the_case,
                               const std::vector<CheckSpec>& checks) {
  const Field field = the_case.need("model_config");
  for (const GridPoint& point : points) {
    const ModelConfig& config = point.model->config;
    const auto need = [&](bool there, const char* what, const char* key) {
      if (!there)
        field.refuse(point.model->name, fmt::format("its config.json does not say {}; write attention.{}", what, key));
    };
    need(point.attention.heads > 0, "num_attention_heads", "heads");
    need(point.attention.kv_heads > 0, "num_key_value_heads", "kv_heads");
    need(!point.attention.pairing.empty(), "which channels turn together", "pairing");
    for (const CheckSpec& check : checks) {
      for (const std::string& stage : check.stages) {
        if (!beyond_rotation(stage, point.attention)) continue;
        need(config.softmax_scale || point.params.contains("scale"), "the scale of the scores", "scale");
        if (!config.rotation_only.empty())
          field.refuse(point.model->name,
                       fmt::format("its {} cannot be computed by this version: {}", stage, config.rotation_only[0]));
      }
    }
  }
}

}  // namespace ropewalk
