#include <fmt/format.h>

#include <algorithm>

#include "harness/cases/parts.hpp"
#include "harness/cases/state.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 6> kVariants{"single", "decode", "padded", "packed", "shifted", "permuted"};
constexpr std::array<std::string_view, 1> kTableVariants{kRecomputed};
constexpr std::string_view kAfterBuild = "after_build";
constexpr std::string_view kOneSource =
    R"(exactly one of recipe (with device), program, plugin, tensors and recording is needed)";

std::filesystem::path beside(const Field& path) {
  return (std::filesystem::path(path.file()).parent_path() / path.text()).lexically_normal();
}

void refuse_beside(const Object& subject, const char* name, const char* needs) {
  if (subject.has(name) && !subject.has(needs))
    subject.need(name).refuse(std::string("this goes with ") + needs + " only");
}

std::string fit_for_an_id(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::string_view(" /~,").find(c) != std::string_view::npos; }, '_');
  return text;
}

std::string derived_name(const SubjectSpec& spec) {
  if (!spec.recipe.empty())
    return spec.recipe + "@" + spec.device +
           (spec.module_cast == ModuleCast::after_build    ? "+cast_after_build"
            : spec.module_cast == ModuleCast::before_table ? "+module_cast"
                                                           : "") +
           (spec.variant.empty() ? "" : "+" + spec.variant);
  if (!spec.recording.empty() && !spec.recorded.empty()) return spec.recorded + "@recording";
  for (const auto& file : {spec.tensors, spec.plugin, spec.recording})
    if (!file.empty()) return fit_for_an_id(file.filename().string());
  return fit_for_an_id(std::filesystem::path(spec.program.front()).filename().string());
}

SubjectSpec read_subject(const Field& field, Kind kind) {
  const Object subject(field, {"name", "recipe", "device", "program", "plugin", "tensors", "recording", "map", "claims",
                               "module_cast", "variant", "timeout_s"});
  // Beside a recording "recipe" is no source: it says which of the recorded ones.
  const bool recorded = subject.has("recording");
  const int sources = (subject.has("recipe") && !recorded) + subject.has("program") + subject.has("plugin") +
                      subject.has("tensors") + recorded;
  if (sources != 1) field.refuse(std::string(kOneSource));
  if (recorded && subject.has("device"))
    subject.need("device").refuse("a recording has a device of its own; leave this out");
  refuse_beside(subject, "device", "recipe");
  refuse_beside(subject, "module_cast", "recipe");
  refuse_beside(subject, "map", "tensors");
  if (!subject.has("plugin")) refuse_beside(subject, "timeout_s", "program");

  SubjectSpec spec;
  if (recorded) {
    spec.recording = beside(subject.need("recording"));
    if (const auto recipe = subject.find("recipe")) spec.recorded = recipe->name();
  } else if (subject.has("recipe")) {
    spec.recipe = subject.need("recipe").name();
    spec.device = subject.need("device").name();
  }
  if (const auto program = subject.find("program"))
    for (const Field& word : program->items()) spec.program.push_back(word.text());
  if (const auto plugin = subject.find("plugin")) spec.plugin = beside(*plugin);
  if (const auto tensors = subject.find("tensors")) spec.tensors = beside(*tensors);
  if (const auto map = subject.find("map")) {
    const std::vector<std::string> stages(stages_of(kind).begin(), stages_of(kind).end());
    for (const auto& [stage, name] : Object(*map, stages).members()) spec.map[stage] = name.text();
  }
  if (const auto claims = subject.find("claims")) spec.claims = claims->name();
  if (const auto cast = subject.find("module_cast")) {
    const bool after_build = cast->json() == kAfterBuild;
    if (!after_build && !cast->json().is_boolean())
      cast->refuse(fmt::format("true, false, or with a state block \"{}\"", kAfterBuild));
    if (after_build || cast->flag())
      spec.module_cast = after_build ? ModuleCast::after_build : ModuleCast::before_table;
  }
  if (const auto variant = subject.find("variant")) {
    if (kind == Kind::lora) variant->refuse("this goes with attention, and with a state block, only");
    std::span<const std::string_view> known = kVariants;
    if (kind == Kind::table) known = kTableVariants;
    spec.variant = std::string(known[variant->choice(known)]);
  }
  if (const auto timeout = subject.find("timeout_s")) {
    spec.timeout_s = timeout->number();
    if (spec.timeout_s <= 0) timeout->refuse("a number of seconds above 0 is needed");
  }
  const auto name = subject.find("name");
  spec.name = name ? name->name() : derived_name(spec);
  return spec;
}

}  // namespace

std::vector<SubjectSpec> read_subjects(const Field& list, Kind kind) {
  std::vector<SubjectSpec> out;
  for (const Field& field : list.items()) {
    SubjectSpec spec = read_subject(field, kind);
    for (const SubjectSpec& earlier : out)
      if (earlier.name == spec.name) field.refuse(spec.name, "two subjects have this name; give each its own \"name\"");
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace ropewalk
