#include "harness/diagnosis/identify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "harness/diagnosis/rows.hpp"
#include "harness/recipes/run.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kBlockElements = 32768;  // rows * pairs at a time

bool same_number(double a, double b) { return (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b); }

void insert(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Adds one block. Positions are how the rows were chosen, so that they say nothing.
void compare(const Stages& observed, const Stages& made, Match& match) {
  const bool tables = observed.contains("cos") || observed.contains("sin");
  for (const auto& [stage, tensor] : observed) {
    if (stage == "positions") continue;
    const Tensor& other = made.at(stage);
    if (tensor.dtype() == other.dtype() && same_bits(tensor, other)) {
      match.compared += tensor.size();
      continue;
    }
    if (tensor.dtype() != other.dtype()) insert(match.other_dtype, stage);
    const auto a = to_doubles(tensor), b = to_doubles(other);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ++match.compared;
      if (same_number(a[i], b[i])) continue;
      ++match.mismatched;
      insert(match.differing, stage);
      const double size = std::fabs(a[i] - b[i]);
      if (!tables || stage == "cos" || stage == "sin")
        match.max_abs = std::max(match.max_abs, std::isnan(size) ? std::numeric_limits<double>::infinity() : size);
    }
  }
}

struct Candidate {
  Match match;
  Recipe recipe;
  std::shared_ptr<Device> device;
};

// Every published recipe, also after a cast of the module, and every fault, on every device that there is.
std::vector<Candidate> candidates(DType dtype, const std::vector<Recipe>& recipes,
                                  const std::vector<std::shared_ptr<Device>>& devices) {
  std::vector<Candidate> out;
  for (const bool cast : {false, true})
    for (const Recipe& recipe : recipes)
      for (const auto& device : devices) {
        if (cast && (recipe.buffers.empty() || recipe.is_fault() || dtype == DType::float32)) continue;
        Match match;
        match.recipe = recipe.name;
        match.title = recipe.title;
        match.device = device->name();
        match.parent = recipe.parent;
        match.emulated = device->emulated();
        match.module_cast = cast;
        match.dtype = dtype;
        out.push_back({match, recipe, device});
      }
  return out;
}

// Runs a candidate on these rows; false where its device refuses a step.
bool run(Candidate& candidate, Case problem, const std::vector<std::int64_t>& rows, const Stages& observed) {
  problem.dtype = candidate.match.dtype;
  try {
    const RecipeRun recipe(candidate.recipe, candidate.device, problem, candidate.match.module_cast);
    const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / (problem.rope.rotary_dim() / 2));
    const auto count = static_cast<std::int64_t>(rows.size());
    candidate.match.compared = candidate.match.mismatched = 0;
    for (std::int64_t first = 0; first < count; first += step) {
      const std::vector<std::int64_t> block(rows.begin() + first, rows.begin() + std::min(first + step, count));
      Stages seen = rows_of(observed, block);
      if (first > 0) seen.erase("inv_freq");
      compare(seen, recipe.rows(positions_at(problem.positions, block, problem.rope.axes())), candidate.match);
    }
  } catch (const Refused&) {
    return false;
  }
  return true;
}

std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Published recipes go first, then their casts, which is how most faults come about, then the other faults.
auto order_of(const Match& m) { return std::tuple(!m.parent.empty(), m.module_cast); }

}  // namespace

Identification identify(const Case& problem, const Stages& observed) {
  const std::vector<std::int64_t> few = telling_rows(problem.positions), all = all_rows(problem.positions.count());
  std::vector<Recipe> recipes = all_recipes();
  std::erase_if(recipes, [](const Recipe& recipe) { return recipe.kind != Kind::table || !recipe.kernel.empty(); });
  std::vector<std::shared_ptr<Device>> devices;
  for (const std::string& name : device_names())
    if (auto device = make_device(name); name != "cuda-kernels" && device->missing().empty())
      devices.push_back(std::move(device));
  Identification out;
  std::optional<Candidate> nearest;
  const auto farther = [](const Match& a, const Match& b) {
    return std::tuple(a.mismatched * b.compared, a.max_abs) > std::tuple(b.mismatched * a.compared, b.max_abs);
  };
  std::vector<DType> dtypes{problem.dtype};
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16, DType::float64})
    if (dtype != problem.dtype) dtypes.push_back(dtype);
  for (const DType dtype : dtypes) {
    if (dtype != problem.dtype && dtype == dtypes[1] && !out.identical.empty()) break;
    for (Candidate& candidate : candidates(dtype, recipes, devices)) {
      if (!run(candidate, problem, few, observed)) continue;
      ++out.tried;
      if (candidate.match.identical()) run(candidate, problem, all, observed);
      if (candidate.match.identical())
        out.identical.push_back(candidate.match);
      else if (!nearest || farther(nearest->match, candidate.match))
        nearest = std::move(candidate);
    }
  }
  std::stable_sort(out.identical.begin(), out.identical.end(),
                   [](const Match& a, const Match& b) { return order_of(a) < order_of(b); });
  if (out.identical.empty() && nearest) {
    run(*nearest, problem, all, observed);
    out.nearest = nearest->match;
  }
  return out;
}

Stages stages_of(const Match& match, const Case& problem, const std::vector<std::int64_t>& positions) {
  Case asked = problem;
  asked.dtype = match.dtype;
  return RecipeRun(find_recipe(match.recipe), make_device(match.device), asked, match.module_cast).rows(positions);
}

}  // namespace ropewalk
