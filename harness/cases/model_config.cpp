#include "harness/cases/model_config.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

#include "harness/bad_input.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestHead = 65536;

// The first of these fields that is there; models write null for what they leave to the default.
std::optional<Field> first_of(const Field& object, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (object.json().contains(name) && !object.json()[name].is_null()) return object.inside(name, object.json()[name]);
  return {};
}

// Where a block of scaling stands: rope_parameters since transformers 5, rope_scaling before.
std::optional<Field> scaling_block(const Field& config) {
  auto block = first_of(config, {"rope_parameters", "rope_scaling"});
  if (!block) return {};
  if (!block->json().is_object()) block->refuse("an object or null is needed");
  for (const auto& [name, value] : block->json().items())
    if (value.is_object())
      block->inside(name, value).refuse("rope parameters for each kind of layer are not understood by this version");
  if (const auto type = first_of(*block, {"rope_type", "type"}); type && type->text() != "default")
    type->refuse("this scaling is not understood by this version; accepted: default, no scaling");
  return block;
}

std::int64_t head_dim_of(const Field& config) {
  if (const auto field = first_of(config, {"head_dim"})) {
    const std::int64_t dim = field->whole();
    if (dim < 2 || dim > kLargestHead)
      field->refuse(fmt::format("a whole number from 2 to {} is needed", kLargestHead));
    return dim;
  }
  const auto hidden = first_of(config, {"hidden_size", "n_embd"});
  const auto heads = first_of(config, {"num_attention_heads", "n_head"});
  if (!hidden || !heads)
    throw BadInput(config.file(), "head_dim", "",
                   "missing; accepted: head_dim, or hidden_size and num_attention_heads");
  if (heads->whole() < 1 || hidden->whole() % heads->whole() != 0 || hidden->whole() / heads->whole() < 2)
    heads->refuse("a divisor of hidden_size that leaves a head of at least 2 is needed");
  return hidden->whole() / heads->whole();
}

}  // namespace

ModelConfig read_model_config(const std::filesystem::path& file) {
  const Json document = read_json_file(file);
  const Field whole(file.string(), "", document);
  if (!document.is_object()) whole.refuse("a model's config.json is an object");
  const auto text_part = first_of(whole, {"text_config"});
  const Field config = text_part && text_part->json().is_object() ? *text_part : whole;

  ModelConfig out;
  const auto scaling = scaling_block(config);
  out.rope.head_dim = head_dim_of(config);
  auto base = scaling ? first_of(*scaling, {"rope_theta"}) : std::nullopt;
  if (!base) base = first_of(config, {"rope_theta", "rotary_emb_base"});
  out.base_stated = base.has_value();
  if (base) {
    out.rope.base = base->number();
    if (out.rope.base <= 0) base->refuse("a number above 0 is needed");
  }
  auto partial = scaling ? first_of(*scaling, {"partial_rotary_factor"}) : std::nullopt;
  if (!partial) partial = first_of(config, {"partial_rotary_factor", "rotary_pct"});
  if (partial) {
    out.rope.partial_rotary_factor = partial->number();
    if (out.rope.partial_rotary_factor <= 0 || out.rope.partial_rotary_factor > 1)
      partial->refuse("a number above 0, at most 1, is needed");
  }
  if (const std::int64_t width = out.rope.rotary_dim(); width < 2 || width % 2 != 0)
    throw BadInput(file.string(), "head_dim", fmt::format("{} x {}", out.rope.head_dim, out.rope.partial_rotary_factor),
                   fmt::format("an even rotary width of at least 2 is needed; this is {}", width));
  if (const auto most = first_of(config, {"max_position_embeddings"})) out.max_position = most->whole();
  return out;
}

}  // namespace ropewalk
