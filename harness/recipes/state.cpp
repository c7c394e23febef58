#include "harness/recipes/state.hpp"

#include <algorithm>

namespace ropewalk {
namespace {

using Type = reference::Scaling::Type;

// transformers 4.31 to 4.37: cos_cached and sin_cached, made by the constructor and again for a longer call. Beyond the
// maximum a dynamic table takes new frequencies, in float32; every other one the buffer inv_freq.
std::vector<Served> tables(const Case& problem, bool cast_after_build) {
  const bool dynamic = problem.rope.scaling.type == Type::dynamic;
  const double maximum = problem.rope.scaling.max_position_embeddings;
  auto first = static_cast<double>(problem.state->built_for);
  if (first == 0 && dynamic) first = maximum;
  double longest = first;
  std::vector<Served> out;
  for (const std::int64_t length : problem.state->lengths) {
    longest = std::max(longest, static_cast<double>(length));
    const bool new_frequencies = dynamic && longest > maximum, first_table = longest == first;
    out.push_back({longest, !new_frequencies && !(first_table && cast_after_build), first_table});
  }
  return out;
}

// 4.43 and later: the buffer inv_freq, and the length that it is of. New frequencies are float32; so are the first
// where they are kept beside the buffers.
std::vector<Served> longest_frequencies(const Case& problem, bool first_in_buffer) {
  const double maximum = problem.rope.scaling.max_position_embeddings;
  double longest = maximum;
  bool of_buffers = true;
  std::vector<Served> out;
  for (const std::int64_t whole : problem.state->lengths) {
    const auto length = static_cast<double>(whole);
    if (length > longest) {
      longest = length;
      of_buffers = false;
    } else if (length < maximum && longest > maximum) {
      longest = maximum;
      of_buffers = first_in_buffer;
    }
    out.push_back({longest, of_buffers});
  }
  return out;
}

// 4.38 to 4.42: only a call beyond the maximum makes frequencies, and nothing brings the first back.
std::vector<Served> last_frequencies(const Case& problem) {
  const double maximum = problem.rope.scaling.max_position_embeddings;
  Served last{maximum, true};
  std::vector<Served> out;
  for (const std::int64_t length : problem.state->lengths) {
    if (static_cast<double>(length) > maximum) last = {static_cast<double>(length), false};
    out.push_back(last);
  }
  return out;
}

}  // namespace

std::vector<Served> served(const Recipe& recipe, const Case& problem, bool cast_after_build) {
  const Type type = problem.rope.scaling.type;
  if (recipe.keeps == Keeps::table) return tables(problem, cast_after_build);
  if (type == Type::dynamic && recipe.keeps == Keeps::last_frequencies) return last_frequencies(problem);
  if (type == Type::dynamic && recipe.keeps != Keeps::nothing)
    return longest_frequencies(problem, recipe.keeps == Keeps::longest_frequencies_in_buffers);
  const bool kept_lists = type == Type::longrope && recipe.keeps == Keeps::longest_frequencies_and_lists;
  std::vector<Served> out;
  for (const std::int64_t length : problem.state->lengths) out.push_back({static_cast<double>(length), !kept_lists});
  return out;
}

}  // namespace ropewalk
