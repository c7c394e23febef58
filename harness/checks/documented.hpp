// What documents promise of a table that could not be run: the approximations of a GPU without a GPU.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/cases/case.hpp"
#include "harness/devices/device.hpp"

namespace ropewalk {

// For cos and sin by approximations, else nothing: how far each position's elements may be from the exact ones, in
// bands of positions from a power of two to the next, and for how many elements the documents promise nothing.
std::optional<nlohmann::ordered_json> bounded_by_documents(const Recipe& claims, const std::string& stage,
                                                           const DocumentedBounds& device, const Case& problem);

}  // namespace ropewalk
