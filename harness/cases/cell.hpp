// One cell of a grid as it stands in manifests and requests: blocks of which every field is written, with one value.
#pragma once

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {

Json attention_block(const Attention& attention);
Json lora_block(const Lora& lora);
// {"type": "yarn", "factor": 4, ...} with every field that the type has; null for none.
Json scaling_block(const Rope& rope);
// {"type": "mrope", "mrope_section", "mrope_interleaved"} or {"type": "axial"}; null for one axis.
Json axes_block(const Rope& rope);
reference::Scaling read_scaling_block(const Field& block);  // what scaling_block made. Throws BadInput

// The problem of the blocks `rope` (with positions), perhaps with `attention`, or `lora`, by the rules of case files.
// Throws BadInput; so for a field with several values.
Case read_cell(const Object& blocks);

}  // namespace ropewalk
