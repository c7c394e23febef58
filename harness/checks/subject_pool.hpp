// Subjects that are dear to start (external programs) are kept and lent to one case at a time.
#pragma once

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
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Subject>>> idle_;
};

}  // namespace ropewalk
