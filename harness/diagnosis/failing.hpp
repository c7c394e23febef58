// The tensors of what failed, kept in a folder that `ropewalk check` reads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/checks/subject_pool.hpp"
#include "harness/diagnosis/dump.hpp"
#include "harness/report/result.hpp"

namespace ropewalk {

inline constexpr const char* kFailingFile = "failing.json";  // says what the folder holds, and how to see it again

// Runs the subjects of these results of one case again, and writes into a new folder of `folder`: a safetensors file
// for each subject; reference.safetensors, the exact values correctly rounded (cosines and sines to the case's dtype,
// frequencies and angles to float64); failing.json. For tables of cosines and sines; returns no path for other cases,
// and where no subject could be run again. Throws BadInput where it cannot write.
std::optional<std::filesystem::path> save_failing(const std::filesystem::path& folder, const Case& problem,
                                                  const std::vector<const Result*>& failing, SubjectPool& pool);

// Such a folder as `check` takes it.
struct Failing {
  Known known;                                  // of the problem
  std::vector<std::filesystem::path> subjects;  // files of tensors, one or two
  std::string claims;                           // of the first
};
// Throws BadInput.
Failing read_failing(const std::filesystem::path& folder);

// The subject's tensors in the whole case, as something to investigate. Throws SubjectError.
Dump dump_of_subject(const SubjectSpec& spec, const Case& problem, SubjectPool& pool);

}  // namespace ropewalk
