#include "harness/cases/model_rope.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

using reference::Scaling;

constexpr std::int64_t kLargestHead = 65536;

// As config.json spells them; su is the first name of longrope, mrope that of sections without a scaling.
struct TypeName {
  std::string_view name;
  Scaling::Type type;
};
constexpr std::array<TypeName, 9> kTypes{{{"default", Scaling::Type::none},
                                          {"linear", Scaling::Type::linear},
                                          {"dynamic", Scaling::Type::dynamic},
                                          {"yarn", Scaling::Type::yarn},
                                          {"longrope", Scaling::Type::longrope},
                                          {"llama3", Scaling::Type::llama3},
                                          {"proportional", Scaling::Type::proportional},
                                          {"su", Scaling::Type::longrope},
                                          {"mrope", Scaling::Type::none}}};

Scaling::Type type_named(const Field& field) {
  std::array<std::string_view, kTypes.size()> names;
  std::transform(kTypes.begin(), kTypes.end(), names.begin(), [](const TypeName& t) { return t.name; });
  return kTypes[field.choice(names)].type;
}

std::string type_field(const Field& block) { return first_of(block, {"rope_type"}) ? "rope_type" : "type"; }

// Without a type: none, as long as nothing but a base and a share stands there.
Scaling::Type type_of(const Field& block) {
  const auto now = first_of(block, {"rope_type"}), before = first_of(block, {"type"});
  if (now && before && type_named(*now) != type_named(*before))
    before->refuse(fmt::format("rope_type says {}; both must agree", now->json().dump()));
  if (now || before) return type_named(now ? *now : *before);
  for (const auto& [name, value] : block.json().items())
    if (name != "rope_theta" && name != "partial_rotary_factor" && !value.is_null())
      throw BadInput(block.file(), block.path() + ".rope_type", "", fmt::format("missing, beside {}", name));
  return Scaling::Type::none;
}

double positive(const Field& field) {
  if (field.number() <= 0) field.refuse("a number above 0 is needed");
  return field.number();
}

double share(const Field& field) {
  if (positive(field) > 1) field.refuse("a number above 0, at most 1, is needed");
  return field.number();
}

std::int64_t head_width(const Field& field) {
  const std::int64_t dim = field.whole();
  if (dim < 2 || dim > kLargestHead) field.refuse(fmt::format("a whole number from 2 to {} is needed", kLargestHead));
  return dim;
}

std::int64_t head_dim_of(const Field& config, const Family& family, const std::string& layer_type) {
  const auto stated = first_of(config, {"head_dim"});
  if (const auto rope_part = first_of(config, {"qk_rope_head_dim"})) {
    const std::int64_t width = head_width(*rope_part);
    if (stated && head_width(*stated) != width) stated->refuse(fmt::format("qk_rope_head_dim says {}", width));
    return width;
  }
  if (layer_type == "full_attention") {
    if (const auto global = first_of(config, {"global_head_dim"})) return head_width(*global);
    if (family.global_head_dim > 0) return family.global_head_dim;
  }
  if (stated) return head_width(*stated);
  if (family.head_dim > 0) return family.head_dim;
  const auto hidden = first_of(config, {"hidden_size", "n_embd"});
  const auto heads = first_of(config, {"num_attention_heads", "n_head"});
  if (!hidden || !heads)
    throw BadInput(config.file(), config.inside("head_dim", config.json()).path(), "",
                   "missing; accepted: head_dim, or hidden_size and num_attention_heads");
  if (heads->whole() < 1 || hidden->whole() % heads->whole() != 0 || hidden->whole() / heads->whole() < 2)
    heads->refuse("a divisor of hidden_size that leaves a head of at least 2 is needed");
  return hidden->whole() / heads->whole();
}

// The share that gives exactly these channels, although it is rounded.
double share_of(std::int64_t rotary, Rope rope) {
  rope.partial_rotary_factor = static_cast<double>(rotary) / static_cast<double>(rope.head_dim);
  if (rope.rotary_dim() < rotary) rope.partial_rotary_factor = std::nextafter(rope.partial_rotary_factor, 2);
  return rope.partial_rotary_factor;
}

double partial_of(const Field& config, const std::optional<Field>& block, const Family& family, const Rope& rope) {
  auto field = block ? first_of(*block, {"partial_rotary_factor"}) : std::nullopt;
  if (!field) field = first_of(config, {"partial_rotary_factor", "rotary_pct"});
  if (field) return share(*field);
  if (!config.json().contains("rotary_dim"))
    return family.rotary_dim > 0 ? share_of(family.rotary_dim, rope) : family.partial_rotary_factor;
  const Field channels = config.inside("rotary_dim", config.json()["rotary_dim"]);
  if (channels.whole() < 2 || channels.whole() > rope.head_dim)
    channels.refuse(fmt::format("a whole number from 2 to the head's {} is needed", rope.head_dim));
  return share_of(channels.whole(), rope);
}

void read_base(const Field& config, const std::optional<Field>& block, const Family& family, bool local,
               ModelRope& out) {
  auto field = block ? first_of(*block, {"rope_theta"}) : std::nullopt;
  if (!field)
    field = local ? first_of(config, {"rope_local_base_freq"}) : first_of(config, {"rope_theta", "rotary_emb_base"});
  out.base_stated = field.has_value();
  out.rope.base = field ? positive(*field) : local ? family.local_theta : family.theta;
  if (out.rope.base > 0) return;
  const std::string name = local ? "rope_local_base_freq" : "rope_theta";
  throw BadInput(config.file(), config.inside(name, config.json()).path(), "",
                 family.model_type.empty()
                     ? "missing, and no model_type that has a default is stated"
                     : fmt::format("missing; there is no default for model_type {}", family.model_type));
}

// Every axis has the frequencies and the amplitude of the block's scaling.
void read_sections(const Field& block, const Family& family, ModelRope& out) {
  const auto sections = first_of(block, {"mrope_section"});
  if (sections) out.rope.mrope_interleaved = family.mrope_interleaved;
  if (const auto interleaved = first_of(block, {"mrope_interleaved"})) {
    out.rope.mrope_interleaved = interleaved->flag();
    if (!sections) interleaved->refuse("this goes with mrope_section only");
  }
  if (!sections) return;
  auto& of_axis = out.rope.mrope_section;
  for (const Field& item : sections->items()) {
    if (item.whole() < 1) item.refuse("a number of pairs, at least 1, is needed");
    of_axis.push_back(item.whole());
  }
  if (of_axis.size() != 3) sections->refuse("three numbers are needed");
  check_sections(out.rope, *sections);
}

// The field of the config that says this; transformers 4 and 5 look beside the block too.
std::optional<Field> scaling_field(const Field& config, const Field& block, Scaling::Type type,
                                   const std::string& name) {
  if (type == Scaling::Type::proportional && name == "proportion") return first_of(block, {"partial_rotary_factor"});
  if (name == "max_position_embeddings") return first_of(config, {"max_position_embeddings"});
  const auto inside = first_of(block, {name.c_str()});
  if (name != "original_max_position_embeddings") return inside;
  const auto beside = first_of(config, {"original_max_position_embeddings"});
  if (inside && beside && inside->number() != beside->number())
    beside->refuse(fmt::format("{} says {}", inside->path(), inside->json().dump()));
  if (inside || beside) return inside ? inside : beside;
  if (type == Scaling::Type::yarn) return first_of(config, {"max_position_embeddings"});
  return {};
}

void refuse_unknown(const Field& block, Scaling::Type type) {
  const ScalingFields known = scaling_fields(type);
  std::vector<std::string> accepted{"rope_type",        "type", "rope_theta", "partial_rotary_factor", "mrope_section",
                                    "mrope_interleaved"};
  if (type == Scaling::Type::yarn) accepted.emplace_back("finetuned");  // of the first YaRN models: without effect
  for (const auto* names : {&known.needed, &known.allowed})
    for (const std::string_view name : *names)
      if (name != "length" && name != "max_position_embeddings" && name != "proportion") accepted.emplace_back(name);
  for (const auto& [name, value] : block.json().items())
    if (std::find(accepted.begin(), accepted.end(), name) == accepted.end())
      block.inside(name, value)
          .refuse(fmt::format("not understood with scaling {}{}; accepted: {}",
                              type == Scaling::Type::none ? "default" : name_of(type), did_you_mean(name, accepted),
                              joined(accepted)));
}

void read_scaling(const Field& config, const Field& block, Rope& rope) {
  const Scaling::Type type = type_of(block);
  refuse_unknown(block, type);
  const ScalingFields fields = scaling_fields(type);
  GridPoint scratch;
  scratch.rope = rope;
  scratch.rope.scaling.type = type;
  for (const FieldRule& rule : scaling_rules()) {
    const std::string name(rule.name);
    if (!fields.has(name) || name == "length") continue;
    if (const auto field = scaling_field(config, block, type, name)) {
      rule.set(scratch, rule.read(*field));
    } else if (std::find(fields.needed.begin(), fields.needed.end(), rule.name) != fields.needed.end()) {
      const auto null = block.json().find(name);
      if (null != block.json().end()) block.inside(name, *null).refuse(fmt::format("{} needs a value", name_of(type)));
      const std::string shown = name == "proportion" ? "partial_rotary_factor" : name;
      throw BadInput(block.file(), block.path() + "." + shown, "", fmt::format("missing; {} needs it", name_of(type)));
    }
  }
  rope = scratch.rope;
  check_scaling_values(rope, block, type_field(block));
}

}  // namespace

std::optional<Field> first_of(const Field& object, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (object.json().contains(name) && !object.json()[name].is_null()) return object.inside(name, object.json()[name]);
  return {};
}

ModelRope read_model_rope(const Field& config, const std::optional<Field>& block, const Family& family,
                          const std::string& layer_type, bool local) {
  ModelRope out;
  Rope& rope = out.rope;
  rope.head_dim = head_dim_of(config, family, layer_type);
  read_base(config, block, family, local, out);
  const bool proportional = block && type_of(*block) == Scaling::Type::proportional;
  if (!proportional) rope.partial_rotary_factor = partial_of(config, block, family, rope);
  if (const std::int64_t width = rope.rotary_dim(); width < 2 || width % 2 != 0)
    throw BadInput(config.file(), config.inside("head_dim", config.json()).path(),
                   fmt::format("{} x {}", rope.head_dim, rope.partial_rotary_factor),
                   fmt::format("an even rotary width of at least 2 is needed; this is {}", width));
  if (!block) return out;
  read_scaling(config, *block, rope);
  read_sections(*block, family, out);
  return out;
}

}  // namespace ropewalk
