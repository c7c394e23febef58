// An external program as a subject. The whole problem of a case is asked for at once, as a user of the program would.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/cases/json_file.hpp"
#include "harness/cases/state.hpp"
#include "harness/subjects/program_outputs.hpp"
#include "harness/subjects/program_protocol.hpp"
#include "harness/subjects/subject.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

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
      given["positions"] = positions_tensor(problem.positions, problem.rope.axes());
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
