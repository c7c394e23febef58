// Subjects that are dear to start (external programs) are kept and lent to one case at a time.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

class SubjectPool {
 public:
  // An idle subject of this specification, or a new one.
  std::unique_ptr<Subject> take(const SubjectSpec& spec, const Case& problem);
  void give_back(const SubjectSpec& spec, const Case& problem, std::unique_ptr<Subject> subject);

 private:
  std::shared_ptr<const Recording> recording(const std::filesystem::path& folder);

  std::mutex mutex_;
  std::map<std::filesystem::path, std::shared_ptr<const Recording>> recordings_;  // each is read once
  std::map<std::string, std::vector<std::unique_ptr<Subject>>> idle_;
};

}  // namespace ropewalk
