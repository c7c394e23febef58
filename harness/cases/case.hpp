// A case: one fully specified problem. A case file declares many through a grid. shared words: see docs/report.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/problem.hpp"
#include "harness/cases/shared_list.hpp"
#include "harness/tensors/dtype.hpp"

namespace ropewalk {

enum class Relation { accuracy, identity, invariants, equivalence };
enum class Verdict { pass, fail, untrusted, skipped, error };
std::string_view name_of(Relation relation);
std::string_view name_of(Verdict verdict);

struct Positions {
  std::int64_t limit = 0;         // 0 .. limit-1 when list is empty
  SharedList<std::int64_t> list;  // otherwise these, ascending, no duplicates
  // Or, of several axes, each axis' own position of every row, in any order. Without them a row has the same position
  // on all axes, as text has.
  SharedList<std::vector<std::int64_t>> axes = {};
  std::int64_t count() const {
    if (!axes.empty()) return std::ssize(axes[0]);
    return list.empty() ? limit : static_cast<std::int64_t>(list.size());
  }
  std::int64_t at(std::int64_t row, std::int64_t axis = 0) const {
    if (!axes.empty()) return axes[static_cast<std::size_t>(axis)][static_cast<std::size_t>(row)];
    return list.empty() ? row : list[static_cast<std::size_t>(row)];
  }
  std::vector<std::int64_t> all() const;  // of one axis
  std::int64_t largest() const;           // on any axis
};

// When the module is cast to the case's dtype: before its table is built or, with a state, between its first table and
// the first call.
enum class ModuleCast { none, before_table, after_build };

struct SubjectSpec {
  std::string name;            // unique in its case; default: derived ("hf-llama-4.37@cpu", the program's file name)
  std::string recipe, device;  // a recipe on a device ...
  std::vector<std::string> program;        // ... or an external program's command line
  std::filesystem::path plugin;            // ... or a shared library (docs/plugins.md)
  std::filesystem::path tensors;           // ... or a file of tensors
  std::filesystem::path recording;         // ... or the folder of a recording ...
  std::string recorded;                    // ... of this recipe; empty: the only one that it has
  std::map<std::string, std::string> map;  // stage -> name in the file, for tensors
  std::string claims;                      // recipe whose limits count; empty: the default of the contract
  ModuleCast module_cast = ModuleCast::none;
  std::string variant;    // the same problem given in another way (variant.hpp, state.hpp)
  double timeout_s = 60;  // for programs, each answer
};

struct Expectation {  // for the results of one check that `where` matches (all of them when empty)
  nlohmann::json where = nlohmann::json::object();  // param, "dtype", "stage", "subject" -> value or list of values
  Verdict verdict = Verdict::pass;
  std::string first_stage;  // when not empty it must be this one
};

struct UserLimit {
  double value = 0;
  std::string unit, source;  // unit: "abs" or "ulp"
};

struct CheckSpec {
  Relation relation = Relation::accuracy;
  std::vector<std::string>
      stages;                   // default: all five table stages for accuracy and invariants, cos and sin for identity
  bool default_stages = false;  // not written in the case: of programs and files only cos and sin are then asked for
  std::vector<std::string> between;   // identity, equivalence: two subject names
  bool cost = false;                  // identity, equivalence: the two are timed side by side
  std::vector<std::string> subjects;  // accuracy, invariants: names; empty means all
  std::vector<Expectation> expect;    // empty: every result passes
  bool expect_any_fail = false;       // a bare "fail": at least one result of this check over the whole case fails
  std::string
      any_first_stage;  // with expect_any_fail from {"verdict": "fail", "first_stage": ...}: of the first failing one
  std::vector<std::string> allow_skip;  // skip reasons (substrings) that are not unexpected
  std::optional<UserLimit> limit;
  std::filesystem::path accepted;  // a stored report whose failures are known and must not grow; empty: none
};

inline bool takes_two(Relation relation) { return relation == Relation::identity || relation == Relation::equivalence; }

// One cell of the grid: what one declared case says at one point of its product.
struct Case {
  std::string id;                 // "seed-rope/before/head_dim=64,base=10000,max_position=1024/float32"
  std::string file;               // the case file as the user named it
  std::string suite, name;        // "seed-rope", "before"
  nlohmann::ordered_json params;  // the grid's fields with their values, as in the id
  Rope rope;
  Positions positions;
  std::optional<Attention> attention;
  std::optional<Lora> lora;
  std::optional<State> state;  // of tables: calls_of() (state.hpp) has its rows; `positions` are then all that occur
  Kind kind() const { return lora ? Kind::lora : attention ? Kind::attention : Kind::table; }
  nlohmann::ordered_json derived;  // from a model_config; null without one
  DType dtype = DType::float32;
  std::uint64_t seed = 0;  // of the generated inputs, beside the id
  std::vector<SubjectSpec> subjects;
  std::vector<CheckSpec> checks;
  std::int64_t declaration = 0;  // cells of the same declared case share it (expect_any_fail looks across them)
};

// Reads, validates and expands; throws BadInput. Paths in it are resolved against the file's folder. Recipe and device
// names are not looked up here.
std::vector<Case> read_case_file(const std::filesystem::path& file);
// The same for golden tensors: nothing is under test, so subjects and checks may be absent, both of them.
std::vector<Case> read_golden_case_file(const std::filesystem::path& file);

}  // namespace ropewalk
