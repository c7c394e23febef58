// What a program wrote in answer to a question: read and checked. All throw SubjectError.
#pragma once

#include <filesystem>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

// The stages of the problem's kind in this file, which is removed; of whole problems shapes and dtypes are looked at
// where each is judged.
Stages outputs_in(const std::filesystem::path& written, const Case& problem);
// Of a table, in the shapes of Stages and in the dtypes that they may have.
Stages table_outputs(const std::filesystem::path& written, const Case& problem);
// Keys as most programs give them, [batch, seq, kv_heads, dim], each repeated for the query heads that read it.
Tensor at_all_heads(const Tensor& keys, const Attention& attention);

}  // namespace ropewalk
