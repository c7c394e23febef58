// Approved texts: what a reporter wrote when somebody last read it and found it good, kept in tests/approved/.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace ropewalk {

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The lines that differ, "-" approved and "+" now, without what is the same before and after them.
inline std::string line_difference(const std::string& approved, const std::string& now, std::size_t most = 20) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> a = lines_of(approved), b = lines_of(now);
  const auto head = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  std::ptrdiff_t tail = 0;
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  while (tail < shorter - head &&
         a[a.size() - 1 - static_cast<std::size_t>(tail)] == b[b.size() - 1 - static_cast<std::size_t>(tail)])
    ++tail;
  std::ostringstream out;
  out << "from line " << head + 1 << ":\n";
  const auto show = [&](const std::vector<std::string>& lines, char sign) {
    const auto end = static_cast<std::ptrdiff_t>(lines.size()) - tail;
    for (std::ptrdiff_t i = head; i < std::min(end, head + static_cast<std::ptrdiff_t>(most)); ++i)
      out << sign << " " << lines[static_cast<std::size_t>(i)] << "\n";
    if (end - head > static_cast<std::ptrdiff_t>(most)) out << sign << " ...\n";
  };
  show(a, '-');
  show(b, '+');
  return out.str();
}

// Compares with tests/approved/NAME. With ROPEWALK_APPROVE=1 in the environment the text is written there instead.
inline void expect_approved(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(ROPEWALK_TEST_DIR) / "approved" / name;
  const char* approve = std::getenv("ROPEWALK_APPROVE");
  if (approve != nullptr && std::string(approve) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  const std::string approved = text_of_file(path);
  if (approved == text) return;
  ADD_FAILURE() << "tests/approved/" << name
                << (approved.empty() ? " is missing or empty" : " is not what is written now") << ", "
                << line_difference(approved, text)
                << "to accept the new text: ROPEWALK_APPROVE=1 ctest --test-dir build -R '"
                << ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() << "'";
}

}  // namespace ropewalk
