// Reports on disk: the readable layout, the write that is all or nothing, the checked read.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/report/json.hpp"
#include "harness/report/schema.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kColumns = 120;

// A name or reason may hold bytes that are not UTF-8; each becomes U+FFFD.
std::string plain(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Appends everything in one line; gives up, with false, when `out` grows longer than `most`.
bool append_flat(const Json& value, std::size_t most, std::string& out) {
  if (!value.is_structured()) {
    out += plain(value);
    return out.size() <= most;
  }
  out += value.is_array() ? '[' : '{';
  const char* separator = "";
  for (auto child = value.begin(); child != value.end(); ++child) {
    out += separator;
    if (value.is_object()) out += plain(child.key()) + ": ";
    if (!append_flat(*child, most, out)) return false;
    separator = ", ";
  }
  out += value.is_array() ? ']' : '}';
  return out.size() <= most;
}

bool is_plain_list(const Json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
}

// `used`: columns already taken on this line, by the indentation and the key.
void append(const Json& value, std::size_t indent, std::size_t used, std::string& out) {
  const std::size_t start = out.size();
  const bool long_line = !value.is_structured() || value.empty() || is_plain_list(value);
  if (append_flat(value, long_line ? std::string::npos : start + kColumns - 1 - used, out)) return;
  out.resize(start);
  const std::string margin(indent + 2, ' ');
  out += value.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (auto child = value.begin(); child != value.end(); ++child) {
    const std::string label = value.is_array() ? "" : plain(child.key()) + ": ";
    out.append(separator).append(margin).append(label);
    append(*child, indent + 2, margin.size() + label.size(), out);
    separator = ",\n";
  }
  out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

std::string last_error() { return std::generic_category().message(errno); }

}  // namespace

std::string report_text(const Json& document) {
  std::string out;
  append(document, 0, 0, out);
  return out + "\n";
}

void write_report(const std::filesystem::path& path, const Json& document) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    throw BadInput(path.string(), "", "", "cannot be written: " + why);
  };
  std::error_code problem;
  // A link keeps pointing at its file; a pipe or /dev/null is written to, never replaced.
  const fs::path target = fs::is_symlink(path) ? fs::weakly_canonical(path) : path;
  const bool direct = fs::exists(target, problem) && !fs::is_regular_file(target, problem);
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), problem);
  if (problem) refuse(problem.message());
  const fs::path part = direct ? target : fs::path(fmt::format("{}.{}.part", target.string(), ::getpid()));
  std::ofstream file(part, std::ios::binary);
  if (!file) refuse(last_error());
  file << report_text(document);
  file.close();
  if (!file) {
    const std::string why = last_error();
    if (!direct) fs::remove(part, problem);
    refuse(why);
  }
  if (direct) return;
  fs::rename(part, target, problem);
  if (problem) {
    std::error_code ignored;
    fs::remove(part, ignored);
    refuse(problem.message());
  }
}

nlohmann::json read_report(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw BadInput(path.string(), "", "", "a report that can be read is needed");
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(file);
  } catch (const nlohmann::json::parse_error& error) {
    throw BadInput(path.string(), "", "", fmt::format("byte {} is not JSON", error.byte));
  }
  if (!document.is_object() || !document.contains("results") || !document.contains("tool"))
    throw BadInput(path.string(), "", "", "not a report of ropewalk run (fields tool and results are needed)");
  const nlohmann::json version = document.value("schema_version", nlohmann::json());
  if (version != 1) throw BadInput(path.string(), "schema_version", version.dump(), "this program reads version 1");
  const std::vector<std::string> errors = schema_errors(schema_named("report"), document);
  if (!errors.empty()) throw BadInput(path.string(), "", "", errors.front());
  return document;
}

}  // namespace ropewalk
