// The fields of the block state, and the calls that they stand for.
#include "harness/cases/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kMostCalls = 4096;
constexpr std::int64_t kMostRows = kPastLastPosition;  // of all calls

using Lengths = std::vector<std::int64_t>;

bool goes_on(const Lengths& lengths, std::size_t call) { return call > 0 && lengths[call] > lengths[call - 1]; }
std::int64_t first_row(const Lengths& lengths, std::size_t call) {  // that the call serves
  return goes_on(lengths, call) ? lengths[call - 1] : 0;
}

// 3..8;2;3: where three or more ascend by one, only the first and the last of them.
std::string text_of_lengths(const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t last = i;
    while (last + 1 < lengths.size() && lengths[last + 1] == lengths[last] + 1) ++last;
    if (last < i + 2) last = i;
    parts.push_back(last == i ? fmt::format("{}", lengths[i]) : fmt::format("{}..{}", lengths[i], lengths[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ";"));
}

Axis::Value read_lengths(const Field& field) {
  if (!field.json().is_array()) field.refuse("a list of the calls' lengths is needed");
  std::vector<std::int64_t> lengths;
  for (const Field& item : field.items()) lengths.push_back(count_in(item));
  if (lengths.size() > kMostCalls)
    field.refuse(fmt::format("{} calls", lengths.size()), fmt::format("at most {} calls", kMostCalls));
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) rows += lengths[i] - first_row(lengths, i);
  if (rows > kMostRows) field.refuse(fmt::format("{} rows in all calls", rows), fmt::format("at most {}", kMostRows));
  return {text_of_lengths(lengths), {}, field};
}

constexpr std::array<FieldRule, 2> kState{{
    {"lengths", true, read_lengths,
     [](GridPoint& point, const Axis::Value& value) {
       value.where.json().get_to(point.state.lengths);
       point.positions = {*std::max_element(point.state.lengths.begin(), point.state.lengths.end()), {}};
     }},
    {"built_for", false,
     [](const Field& field) {
       return Axis::Value{count_in(field), {}, field};
     },
     [](GridPoint& point, const Axis::Value& value) { point.state.built_for = value.param.get<std::int64_t>(); }},
}};

Positions new_rows(std::int64_t first, std::int64_t length) {
  if (first == 0) return {length, {}};
  std::vector<std::int64_t> rows;
  for (std::int64_t p = first; p < length; ++p) rows.push_back(p);
  return {0, std::move(rows)};
}

}  // namespace

std::span<const FieldRule> state_rules() { return kState; }

void check_state(const Object& the_case) {
  const Field state = the_case.need("state");
  for (const char* other : {"attention", "lora"})
    if (the_case.has(other)) state.refuse(fmt::format("a table alone has calls; this does not go with {}", other));
  if (!the_case.has("rope") && !the_case.has("model_config"))
    state.refuse("this goes with a rope block or a model_config");
  const auto said_by_calls = [](const Field& field) { field.refuse("the lengths of the block state say this"); };
  if (const auto positions = the_case.find("positions")) said_by_calls(*positions);
  if (const auto rope = the_case.find("rope"); rope && rope->json().is_object())
    for (const char* name : {"positions", "max_position", "length"})
      if (rope->json().contains(name)) said_by_calls(rope->inside(name, rope->json()[name]));
}

void check_state_subjects(const std::vector<SubjectSpec>& subjects, const Field& list, bool with_state) {
  const std::vector<Field> fields = list.items();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Json& json = fields[i].json();
    const auto refuse = [&](const char* name, const char* why) { fields[i].inside(name, json[name]).refuse(why); };
    for (const char* name : {"tensors", "recording"})
      if (with_state && json.contains(name))
        refuse(name, "it has no calls; with a state block recipes, programs, plugins");
    if (with_state) continue;
    if (subjects[i].module_cast == ModuleCast::after_build)
      refuse("module_cast", "this goes with a state block only; accepted: true, false");
    if (subjects[i].variant == kRecomputed) refuse("variant", "this goes with a state block only");
  }
}

std::vector<Case> calls_of(const Case& problem) {
  Case bare;
  bare.id = problem.id;
  bare.file = problem.file;
  bare.rope = problem.rope;
  bare.attention = problem.attention;
  bare.dtype = problem.dtype;
  bare.seed = problem.seed;
  if (!problem.state) {
    bare.positions = problem.positions;
    return {bare};
  }
  std::vector<Case> calls;
  for (std::size_t i = 0; i < problem.state->lengths.size(); ++i) {
    Case& call = calls.emplace_back(bare);
    call.rope.scaling.length = static_cast<double>(problem.state->lengths[i]);
    call.positions = new_rows(first_row(problem.state->lengths, i), problem.state->lengths[i]);
  }
  return calls;
}

std::pair<std::size_t, std::int64_t> place_in(const std::vector<Case>& calls, std::int64_t row) {
  std::size_t call = 0;
  for (; call + 1 < calls.size() && row >= calls[call].positions.count(); ++call) row -= calls[call].positions.count();
  return {call, row};
}

State recomputed(const State& state) {
  State out{{}, state.built_for};
  for (std::size_t i = 0; i < state.lengths.size(); ++i) {
    if (goes_on(state.lengths, i)) out.lengths.pop_back();
    out.lengths.push_back(state.lengths[i]);
  }
  return out;
}

}  // namespace ropewalk
