// One-off: tensors that somebody has, against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "harness/bad_input.hpp"
#include "harness/cases/fields.hpp"
#include "harness/cases/model_config.hpp"
#include "harness/checks/claims.hpp"
#include "harness/cli/commands.hpp"
#include "harness/diagnosis/dump.hpp"
#include "harness/diagnosis/failing.hpp"
#include "harness/diagnosis/investigation.hpp"
#include "harness/diagnosis/row_positions.hpp"
#include "harness/diagnosis/text.hpp"
#include "harness/diagnosis/two_dumps.hpp"

namespace ropewalk {
namespace {

// CLI11's own ranges take NaN, which compares with nothing.
CLI::Validator above_zero(double most, const std::string& needed) {
  return {[=](const std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= most;
            return good ? std::string() : text + ": " + needed + " is needed";
          },
          "FLOAT"};
}

struct Options {
  std::string tensors, against, config, layer_type, positions, recipe, dtype;
  std::vector<std::string> map, map_against;
  double base = 0, partial_rotary_factor = 0;
  std::int64_t head_dim = 0;
  bool as_json = false, recipe_given = false;
};

std::map<std::string, std::string> read_map(const std::vector<std::string>& entries) {
  std::map<std::string, std::string> map;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
      throw BadInput("--map", "", entry, "STAGE=NAME_IN_FILE is needed");
    if (!map.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second)
      throw BadInput("--map", "", entry, "each stage once");
  }
  return map;
}

// Of the kind of layer that is asked for, or of any where they do not differ.
Rope rope_of(const ModelConfig& config, const Options& options) {
  std::vector<std::string> kinds;
  bool one = true;
  for (const ModelLayer& layer : config.layers) {
    kinds.emplace_back(kind_of(layer));
    if (kinds.back() == options.layer_type) return layer.rope;
    one = one && layer.rope == config.layers[0].rope;
  }
  if (options.layer_type.empty() && one) return config.layers[0].rope;
  throw BadInput(
      "--layer-type", "", options.layer_type,
      fmt::format("the layers of {} are {}; one of these is needed", options.config, joined(kinds, " and ")));
}

Known known_from(const Options& options) {
  Known known;
  known.map = read_map(options.map);
  if (!options.positions.empty()) known.positions = read_positions_option(options.positions);
  if (!options.dtype.empty()) {
    known.dtype = dtype_named(options.dtype);
    if (!known.dtype || !is_floating(*known.dtype))
      throw BadInput("--dtype", "", options.dtype, "one of float64, float32, bfloat16, float16");
  }
  if (!options.layer_type.empty() && options.config.empty())
    throw BadInput("--layer-type", "", options.layer_type, "this goes with --config only");
  if (!options.config.empty()) {
    const ModelConfig config = read_model_config(options.config);
    const Rope rope = rope_of(config, options);
    known.source = options.config;
    known.base = rope.base;
    known.head_dim = rope.head_dim;
    known.partial_rotary_factor = rope.partial_rotary_factor;
    known.scaling = rope.scaling;
    if (!config.base_stated) known.source += fmt::format(" (no base in it: the default of {})", config.model_type);
  }
  if (options.base > 0) known.base = options.base;
  if (options.head_dim > 0) known.head_dim = options.head_dim;
  if (options.partial_rotary_factor > 0) known.partial_rotary_factor = options.partial_rotary_factor;
  if (options.base > 0 || options.head_dim > 0)
    known.source += known.source.empty() ? "as given" : ", changed as given";
  return known;
}

int exit_code(const Investigation& found) { return found.verdict == Verdict::pass ? kAsExpected : kUnexpected; }

void print(const Options& options, const nlohmann::ordered_json& json, const std::string& text) {
  fmt::print("{}", options.as_json ? json.dump(2) + "\n" : text);
}

// Each file against the reference, and the two against each other. That their bits differ is no failure by itself.
int check_both(const Options& options, Known known) {
  const Investigation first = investigate(read_dump(options.tensors, known), options.recipe);
  if (!options.map_against.empty()) known.map = read_map(options.map_against);
  if (!known.base) known.base = first.dump.problem.rope.base, known.source = "as for " + options.tensors;
  const Investigation second = investigate(read_dump(options.against, known), options.recipe);
  const TwoDumps two = compare_dumps(first.dump, second.dump);
  print(options,
        {{"schema_version", 1},
         {"tensors", investigation_json(first)},
         {"against", investigation_json(second)},
         {"comparison", two_dumps_json(two)}},
        investigation_text(first) + "\n" + investigation_text(second) + "\n" + two_dumps_text(two));
  return std::max(exit_code(first), exit_code(second));
}

// What run --save-failing left: its failing.json says all that the options would.
int check_failing(Options options) {
  const Failing failing = read_failing(options.tensors);
  options.tensors = failing.subjects[0].string();
  if (!options.recipe_given) options.recipe = failing.claims;
  if (failing.subjects.size() > 1 && options.against.empty()) options.against = failing.subjects[1].string();
  if (!options.against.empty()) return check_both(options, failing.known);
  const Investigation found = investigate(read_dump(options.tensors, failing.known), options.recipe);
  print(options, investigation_json(found), investigation_text(found));
  return exit_code(found);
}

int check(Options options) {
  set_cpu_threads(1);  // as in `run`: more would not change the bits
  options.recipe_given = !options.recipe.empty();
  if (!options.recipe_given) options.recipe = kPlainClaim;
  const Known known = known_from(options);
  if (find_recipe(options.recipe).kind != Kind::table)
    throw BadInput("--recipe", "", options.recipe, "a recipe of tables of cosines and sines");
  if (std::filesystem::is_directory(options.tensors)) return check_failing(options);
  if (!options.against.empty()) return check_both(options, known);
  const Investigation found = investigate(read_dump(options.tensors, known), options.recipe);
  print(options, investigation_json(found), investigation_text(found));
  return exit_code(found);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("check", "Tensors that somebody has, against the reference: what is off, and why");
  auto options = std::make_shared<Options>();
  command
      ->add_option("--tensors", options->tensors,
                   "A file of tensors (safetensors, npy, npz, pt), or a folder of --save-failing")
      ->required();
  command->add_option("--against", options->against, "Another dump of the same: where do they differ, which is closer");
  command->add_option("--config", options->config, "The model's config.json: base, widths and scaling");
  command->add_option("--layer-type", options->layer_type,
                      "Of a model whose layers differ: full_attention or sliding_attention");
  command->add_option("--map", options->map, "STAGE=NAME_IN_FILE (repeatable)")->allow_extra_args(false);
  command->add_option("--map-against", options->map_against, "The same for the file of --against (default: --map)")
      ->allow_extra_args(false);
  command->add_option("--positions", options->positions, "FROM..TO, a list, or a file: the position of each row");
  command->add_option("--recipe", options->recipe,
                      std::string("The recipe whose limits count (default: ") + kPlainClaim + ")");
  command->add_option("--dtype", options->dtype, "The dtype that the tables are meant to have (default: theirs)");
  command->add_option("--base", options->base, "Base of the frequencies")
      ->check(above_zero(std::numeric_limits<double>::max(), "a finite number above 0"));
  command->add_option("--head-dim", options->head_dim, "Width of a head")->check(CLI::Range(2, 65536));
  command->add_option("--partial-rotary-factor", options->partial_rotary_factor, "Share of the head that is rotated")
      ->check(above_zero(1, "a number above 0, at most 1,"));
  command->add_flag("--json", options->as_json, "As JSON");
  command->callback([=, &action] { action = [=] { return check(*options); }; });
}

}  // namespace ropewalk
