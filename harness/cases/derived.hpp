// What a model's config.json was taken to say, for `ropewalk list --json` and the report: docs/report.md, `derived`.
#pragma once

#include "harness/cases/case.hpp"
#include "harness/cases/model_config.hpp"

namespace ropewalk {

nlohmann::ordered_json derived_from(const ModelConfig& config, const ModelLayer& layer, const Case& cell);

}  // namespace ropewalk
