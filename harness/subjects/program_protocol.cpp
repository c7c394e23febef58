#include "harness/subjects/program_protocol.hpp"

#include <fmt/format.h>

#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

constexpr int kProtocol = 1;

}  // namespace

Json ask(Process& process, const Json& question, double timeout_s) {
  const std::string line = process.ask(question.dump(), timeout_s);
  const auto not_deep = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) throw SubjectError("its answer has too many lists or objects in each other");
    return true;
  };
  Json answer = Json::parse(line, not_deep, false);
  const auto refuse = [&](const std::string& why) {
    throw SubjectError(fmt::format("its answer to {} {}: {}{}", question["op"].get<std::string>(), why,
                                   quoted_excerpt(line), process.last_words()));
  };
  if (!answer.is_object()) refuse("is not a JSON object");
  if (question.contains("id") && (!answer.contains("id") || answer["id"] != question["id"]))
    refuse(fmt::format("has another id than {}", question["id"].dump()));
  const std::string status = answer.contains("status") && answer["status"].is_string() ? answer["status"] : Json("");
  if (status != "ok" && status != "unsupported" && status != "error")
    refuse("has no status out of ok, unsupported, error");
  if (answer.contains("message") && !answer["message"].is_string()) refuse("has a message that is not a text");
  return answer;
}

std::string message_of(const Json& answer) {
  return answer.contains("message") ? quoted_excerpt(answer["message"].get<std::string>()) : "no message";
}

Abilities describe(Process& process, double timeout_s) {
  const Json answer = ask(process, {{"op", "describe"}, {"protocol", kProtocol}}, timeout_s);
  const auto refuse = [&](const std::string& why) { throw SubjectError("its answer to describe " + why); };
  if (answer["status"] != "ok") refuse("is not ok: " + message_of(answer));
  if (!answer.contains("protocol") || answer["protocol"] != kProtocol)
    refuse(fmt::format("has not \"protocol\": {}: {}", kProtocol, quoted_excerpt(answer.dump())));
  const auto names = [&](const char* field) {
    std::set<std::string> found;
    if (!answer.contains(field) || !answer[field].is_array()) refuse(fmt::format("has no list \"{}\"", field));
    for (const Json& name : answer[field]) {
      if (!name.is_string()) refuse(fmt::format("has something else than names in \"{}\"", field));
      found.insert(name.get<std::string>());
    }
    return found;
  };
  return {names("ops"), names("dtypes")};
}

}  // namespace ropewalk
