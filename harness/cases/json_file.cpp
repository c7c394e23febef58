#include "harness/cases/json_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

// Where the parser stands, as cases[0].rope.head_dim: the library tells it for neither repeated fields nor numbers that
// are too large.
class Trail {
 public:
  // False when `value` is a field's name that this object already has.
  bool step(Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
        levels_.push_back({false, 0, {}, {}});
        return true;
      case Event::array_start:
        levels_.push_back({true, 0, {}, {}});
        return true;
      case Event::key:
        levels_.back().key = value.get<std::string>();
        return levels_.back().keys.insert(levels_.back().key).second;
      case Event::object_end:
      case Event::array_end:
        levels_.pop_back();
        break;
      case Event::value:
        break;
    }
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }

  std::string path() const {
    std::string out;
    for (const Level& level : levels_) {
      if (level.is_array)
        out += fmt::format("[{}]", level.index);
      else
        out += (out.empty() || level.key.empty() ? "" : ".") + level.key;
    }
    return out;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t index;
    std::string key;
    std::set<std::string> keys;
  };
  std::vector<Level> levels_;
};

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (status.type() == std::filesystem::file_type::not_found) throw BadInput(file.string(), "", "", "no such file");
  if (std::filesystem::is_directory(status))
    throw BadInput(file.string(), "", "", "this is a folder; a JSON file is needed");
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.good() && !stream.eof()) throw BadInput(file.string(), "", "", "the file cannot be read");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw BadInput(file.string(), "", "", "the file is empty; a JSON object is needed");
  return text;
}

// The library's message without its own prefix: "line 3, column 5: unexpected ...".
std::string syntax_message(const std::string& what) {
  const auto at = what.find("at line ");
  return at == std::string::npos ? what : what.substr(at + 3);
}

}  // namespace

Json read_json_file(const std::filesystem::path& file) {
  const std::string text = text_of(file);
  Trail trail;
  const auto follow = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepestJson)
      throw BadInput(file.string(), "", "", fmt::format("lists or objects in each other, {} deep", kDeepestJson));
    if (!trail.step(event, value)) throw BadInput(file.string(), trail.path(), "", "this field is given twice");
    return true;
  };
  try {
    return Json::parse(text, follow);
  } catch (const Json::parse_error& e) {
    throw BadInput(file.string(), trail.path(), "", "JSON syntax error at " + syntax_message(e.what()));
  } catch (const Json::out_of_range& e) {
    const std::string what = e.what();
    const auto first = what.find('\'');
    const std::string number = first == std::string::npos ? "" : what.substr(first + 1, what.rfind('\'') - first - 1);
    throw BadInput(file.string(), trail.path(), number, "a finite number is needed (float64 ends at 1.8e308)");
  }
}

}  // namespace ropewalk
