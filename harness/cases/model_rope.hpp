// The rope of one kind of layer, from a model's config.json; only for the files of this folder.
#pragma once

#include <initializer_list>
#include <optional>

#include "harness/cases/fields.hpp"
#include "harness/cases/model_families.hpp"
#include "harness/cases/problem.hpp"

namespace ropewalk {

// The first of these fields that is there; models write null for what they leave to the default.
std::optional<Field> first_of(const Field& object, std::initializer_list<const char*> names);

struct ModelRope {
  Rope rope;
  bool base_stated = true;
};

// `block`: rope_scaling, rope_parameters, or the latter's part for this kind of layer. `local`: of sliding layers that
// have a base of their own.
ModelRope read_model_rope(const Field& config, const std::optional<Field>& block, const Family& family,
                          const std::string& layer_type, bool local);

}  // namespace ropewalk
