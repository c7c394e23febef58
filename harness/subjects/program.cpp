// An external program as a subject. The whole problem of a case is asked for at once, as a user of the program would.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/cases/json_file.hpp"
#include "harness/cases/state.hpp"
#include "harness/subjects/process.hpp"
#include "harness/subjects/subject.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/tensors/blocks.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

constexpr int kProtocol = 1;

// A folder of our own for the tensors that travel; it goes with the subject.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ropewalk-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw SubjectError(fmt::format("no temporary folder {}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Abilities {
  std::set<std::string> ops, dtypes;
};

// One question, one answer: a JSON object with a known status.
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

// What the program wrote, checked. A copy is read, because a program that goes on writing after its answer would pull
// the mapped file away under us; nothing of it remains in the folder.
std::map<std::string, Tensor> read_written(const fs::path& written) {
  std::error_code error;
  if (!fs::is_regular_file(written, error)) throw SubjectError("it answered ok but wrote no file of outputs");
  const fs::path kept = written.string() + ".kept";
  fs::copy_file(written, kept, error);
  if (error) throw SubjectError("its outputs cannot be copied: " + error.message());
  fs::remove(written, error);
  std::map<std::string, Tensor> tensors;
  try {
    tensors = read_safetensors(kept);
  } catch (const BadInput& bad) {
    throw SubjectError("its outputs" + std::string(bad.what()).substr(kept.string().size()));
  }
  fs::remove(kept, error);
  return tensors;
}

// The stages among them; of whole problems shapes and dtypes are looked at where each is judged.
Stages outputs_in(const fs::path& written, const Case& problem) {
  const std::map<std::string, Tensor> tensors = read_written(written);
  Stages stages;
  for (const std::string_view stage : stages_of(problem.kind()))
    if (const auto found = tensors.find(std::string(stage)); found != tensors.end()) stages.insert(*found);
  if (stages.empty())
    throw SubjectError(fmt::format("its outputs hold none of {}", fmt::join(stages_of(problem.kind()), ", ")));
  return stages;
}

// Positions [axes, rows] as [rows, axes].
Tensor rows_first(const Tensor& positions) {
  const std::int64_t axes = positions.shape()[0], rows = positions.shape()[1];
  Tensor out(DType::int64, {rows, axes});
  const auto from = positions.as<std::int64_t>();
  const auto to = out.as<std::int64_t>();
  for (std::int64_t i = 0; i < rows * axes; ++i) to[i] = from[i % axes * rows + i / axes];
  return out;
}

Stages table_outputs(const fs::path& written, const Case& problem) {
  Stages stages = outputs_in(written, problem);
  const std::int64_t pairs = problem.rope.rotary_dim() / 2, axes = problem.rope.axes();
  const std::int64_t rows = problem.positions.count();
  const Shape of_positions = axes == 1 ? Shape{rows} : Shape{axes, rows};
  for (const std::string_view name : stages_of(Kind::table)) {
    const std::string stage(name);
    const auto found = stages.find(stage);
    if (found == stages.end()) continue;
    const Shape expected = stage == "positions"  ? of_positions
                           : stage == "inv_freq" ? Shape{pairs}
                                                 : Shape{rows, pairs};
    if (found->second.shape() != expected)
      throw SubjectError(
          fmt::format("{} has shape {}; accepted: {}", stage, shape_text(found->second.shape()), shape_text(expected)));
    check_dtype(stage, found->second, problem.dtype);
    if (stage == "positions" && axes > 1) found->second = rows_first(found->second);
  }
  return stages;
}

Json rope_block(const Case& problem) {
  return {{"head_dim", problem.rope.head_dim},
          {"rotary_dim", problem.rope.rotary_dim()},
          {"base", problem.rope.base},
          {"partial_rotary_factor", problem.rope.partial_rotary_factor},
          {"scaling", scaling_block(problem.rope)},
          {"axes", axes_block(problem.rope)},
          {"layout", problem.attention && problem.attention->pairing == "interleaved" ? "interleaved" : "half"}};
}

Json built_for_or_null(const State& state) { return state.built_for > 0 ? Json(state.built_for) : Json(nullptr); }

bool asks_for_scores(const Case& problem) {
  for (const CheckSpec& check : problem.checks)
    for (const std::string& stage : check.stages)
      if (stage == "scores" || stage == "probabilities" || stage == "output") return true;
  return false;
}

// Keys as most programs give them, [batch, seq, kv_heads, dim], each repeated for the query heads that read it.
Tensor at_all_heads(const Tensor& keys, const Attention& attention) {
  const Shape& shape = keys.shape();
  if (shape.size() != 4 || shape[2] != attention.kv_heads || attention.heads == attention.kv_heads) return keys;
  const auto vector = static_cast<std::size_t>(shape[3]) * bytes_of(keys.dtype());
  const auto repeated =
      each_block_repeated(keys.bytes(), vector, static_cast<std::size_t>(attention.heads / attention.kv_heads));
  Tensor out(keys.dtype(), {shape[0], shape[1], attention.heads, shape[3]});
  std::copy(repeated.begin(), repeated.end(), out.bytes().begin());
  return out;
}

class ProgramSubject final : public Subject {
 public:
  ProgramSubject(const SubjectSpec& spec, const fs::path& folder) : spec_(spec), folder_(folder) {}

  void prepare(const Case& problem) override {
    if (problem.kind() != Kind::table) return;  // whole() asks
    served_.clear();
    calls_ = calls_of(problem);
    for (const Case& call : calls_) {
      Json fields{{"rope", rope_block(call)}};
      if (problem.state)
        fields["state"] = {{"call", served_.size()},
                           {"lengths", problem.state->lengths},
                           {"built_for", built_for_or_null(*problem.state)}};
      served_.push_back(ask_for(problem.state ? "rope_call" : "rope_table", fields,
                                {{"positions", positions_tensor(call.positions, call.rope.axes())}}, call,
                                table_outputs));
    }
  }

  Whole whole(const Case& problem, const Stages& inputs) override {
    Whole out;
    if (problem.kind() == Kind::lora) {
      const Json fields{{"lora", lora_block(*problem.lora)}};
      out.stages = ask_for("lora_pad", fields, inputs, problem, outputs_in);
      out.module = listed_module();
    } else {
      start();
      const bool only_rotation = abilities_.ops.contains("rope_apply") && !asks_for_scores(problem);
      if (only_rotation && problem.attention->queries(problem.positions.count()) != problem.positions.count())
        throw SubjectUnsupported("rope_apply takes as many queries as positions");
      Stages given = inputs;
      given["positions"] = positions_tensor(problem.positions);
      if (only_rotation) given = {{"positions", given.at("positions")}, {"q", given.at("q")}, {"k", given.at("k")}};
      const Json fields{{"rope", rope_block(problem)},
                        {"attention", attention_block(*problem.attention, problem.positions.count())}};
      out.stages = ask_for(only_rotation ? "rope_apply" : "attention", fields, given, problem, outputs_in);
      if (const auto keys = out.stages.find("rotated_k"); keys != out.stages.end())
        keys->second = at_all_heads(keys->second, *problem.attention);
    }
    return out;
  }

  Stages rows(std::int64_t first, std::int64_t count) override {
    const auto [call, row] = place_in(calls_, first);
    if (call >= served_.size()) return {};  // it did not answer
    return block_of(served_[call], row, count);
  }

  SubjectInfo info() const override {
    SubjectInfo info;
    info.name = spec_.name;
    info.program = spec_.plugin.empty() ? fmt::format("{}", fmt::join(spec_.program, " ")) : spec_.plugin.string();
    info.claims = spec_.claims;
    return info;
  }

 private:
  void start() {
    if (process_) return;
    if (!temporary_) temporary_.emplace();
    process_ = std::make_unique<Process>(spec_.program, folder_);
    abilities_ = describe(*process_, spec_.timeout_s);
  }

  void refuse_what_it_cannot(const std::string& op, DType dtype) const {
    if (!abilities_.ops.contains(op)) throw SubjectUnsupported("the program does not offer " + op);
    if (!abilities_.dtypes.contains(std::string(name_of(dtype))))
      throw SubjectUnsupported(fmt::format("the program does not offer {}", name_of(dtype)));
  }

  // "module": [{"name": "linear.weight", "device": "cpu"}, ...] of the last answer.
  std::vector<ModuleTensor> listed_module() const {
    std::vector<ModuleTensor> out;
    const auto list = last_answer_.find("module");
    if (list == last_answer_.end()) return out;
    const auto text = [](const Json& entry, const char* field) {
      if (!entry.is_object() || !entry.contains(field) || !entry[field].is_string())
        throw SubjectError("its answer lists a module without texts name and device: " + quoted_excerpt(entry.dump()));
      return entry[field].get<std::string>();
    };
    if (!list->is_array()) throw SubjectError("its answer has a \"module\" that is not a list");
    for (const Json& entry : *list) out.push_back({text(entry, "name"), text(entry, "device")});
    return out;
  }

  template <class Read>
  Stages ask_for(const std::string& op, const Json& fields, const Stages& inputs, const Case& problem, Read read) {
    Json answer;
    Stages stages;
    try {
      start();
      refuse_what_it_cannot(op, problem.dtype);
      const std::int64_t id = ++last_id_;
      const fs::path in = temporary_->path() / fmt::format("{}-in.safetensors", id);
      const fs::path out = temporary_->path() / fmt::format("{}-out.safetensors", id);
      try {
        write_safetensors(in, inputs);
      } catch (const BadInput& bad) {
        throw SubjectError(fmt::format("no place for its inputs: {}", bad.what()));
      }
      Json question{{"op", op}, {"id", id}};
      question.update(fields);
      question.update(Json{{"dtype", name_of(problem.dtype)}, {"inputs", in.string()}, {"outputs", out.string()}});
      answer = ask(*process_, question, spec_.timeout_s);
      if (answer["status"] == "ok") stages = read(out, problem);
      std::error_code ignored;
      fs::remove(in, ignored);
    } catch (const SubjectError&) {
      process_.reset();  // the next case starts it again
      throw;
    }
    last_answer_ = answer;
    if (answer["status"] == "unsupported") throw SubjectUnsupported("the program says: " + message_of(answer));
    if (answer["status"] == "error") throw SubjectError("the program says: " + message_of(answer));
    return stages;
  }

  SubjectSpec spec_;
  fs::path folder_;
  std::optional<TemporaryFolder> temporary_;  // outlives the process
  std::unique_ptr<Process> process_;
  Abilities abilities_;
  std::int64_t last_id_ = 0;
  Json last_answer_;
  std::vector<Case> calls_;     // of a state; else the case alone
  std::vector<Stages> served_;  // in each of them
};

}  // namespace

std::unique_ptr<Subject> make_program_subject(const SubjectSpec& spec, const std::filesystem::path& folder) {
  return std::make_unique<ProgramSubject>(spec, folder);
}

}  // namespace ropewalk
