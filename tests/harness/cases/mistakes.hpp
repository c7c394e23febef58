// Mistakes in a good document, each refused with one line.
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {

struct Mistake {
  const char* changes;
  const char* line;
};

// The good document with each of these changes, written as `name` and read: `whole` makes the complaint of its line.
inline void expect_lines(const Folder& folder, const std::string& name, const char* good,
                         std::span<const Mistake> mistakes,
                         const std::function<void(const std::filesystem::path&)>& read,
                         const std::function<std::string(const char*)>& whole) {
  for (const Mistake& mistake : mistakes) {
    const auto file = folder.write(name, changed(good, mistake.changes).dump());
    EXPECT_EQ(complaint(folder, [&] { read(file); }), whole(mistake.line)) << mistake.changes;
  }
}

}  // namespace ropewalk::test
