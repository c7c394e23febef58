// One cell of a grid as it stands in manifests and requests: blocks of which every field is written, with one value.
#pragma once

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {

Json attention_block(const Attention& attention, std::int64_t positions);  // of so many positions
Json lora_block(const Lora& lora);
// {"type": "yarn", "factor": 4, ...} with every field that the type has; null for none.
Json scaling_block(const Rope& rope);
// {"type": "mrope", "mrope_section", "mrope_interleaved"} or {"type": "axial"}; null for one axis.
Json axes_block(const Rope& rope);
// The inverse, for a rope that has its width and scaling. Throws BadInput.
void read_axes_block(const Field& block, Rope& rope);
reference::Scaling read_scaling_block(const Field& block);  // what scaling_block made. Throws BadInput
// The same as fields of a rope block, those that say something: {"scaling": "yarn", "factor": 4, ...}.
Json scaling_fields_of(const Rope& rope);
// What a scaling's values together must be; `block` is where they are written, `type` the field that says the kind.
// Throws BadInput.
void check_scaling_values(const Rope& rope, const Field& block, const std::string& type);

// The problem of the blocks `rope` (with positions), perhaps with `attention`, or `lora`, by the rules of case files.
// Throws BadInput; so for a field with several values.
Case read_cell(const Object& blocks);

}  // namespace ropewalk
