// ropewalk-plugin-host LIBRARY: a program in the sense of docs/protocol.md that answers with a plug-in.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "harness/plugin_host/plugin.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;

Json failed(const std::string& message) { return {{"status", "error"}, {"message", message}}; }

Json answer_operation(const Plugin& plugin, const Json& question) {
  Json request = question;
  request.erase("inputs");
  request.erase("outputs");
  auto inputs = read_safetensors(question.at("inputs").get<std::string>());
  const Plugin::Answer answer = plugin.call(question.at("op").get<std::string>(), request.dump(), inputs);
  switch (answer.status) {
    case ROPEWALK_OK:
      write_safetensors(question.at("outputs").get<std::string>(), answer.outputs);
      return {{"status", "ok"}};
    case ROPEWALK_UNSUPPORTED:
      return {{"status", "unsupported"}, {"message", answer.message}};
    case ROPEWALK_ERROR:
      return failed(answer.message);
    default:
      return failed("the plug-in returned status " + std::to_string(answer.status) + "; accepted: 0, 1, 2");
  }
}

// The library is loaded at the first question, so that what is wrong with it is an answer.
Json answer(std::optional<Plugin>& plugin, const std::string& path, const std::string& line) {
  Json id;
  try {
    const Json question = Json::parse(line);
    if (question.contains("id")) id = question["id"];
    if (!plugin) plugin.emplace(path);
    Json said = question.at("op") == "describe" ? plugin->description() : answer_operation(*plugin, question);
    if (!id.is_null()) said["id"] = id;
    return said;
  } catch (const std::exception& why) {
    Json said = failed(why.what());
    if (!id.is_null()) said["id"] = id;
    return said;
  }
}

int serve(const std::string& path) {
  // The plug-in may print what it likes: only the answers go to standard output, its own words to standard error.
  std::FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  if (answers == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  std::optional<Plugin> plugin;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string said = answer(plugin, path, line).dump(-1, ' ', false, Json::error_handler_t::replace);
    std::fprintf(answers, "%s\n", said.c_str());
    std::fflush(answers);
  }
  return 0;
}

}  // namespace
}  // namespace ropewalk

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: ropewalk-plugin-host LIBRARY, with questions on standard input (docs/protocol.md)\n", stderr);
    return 2;
  }
  return ropewalk::serve(argv[1]);
}
