// Runs the model's sine and cosine over all finite floats of both signs and compares what it finds with the published
// and the stored figures. Some minutes on two cores.
//
//   cuda_math_exhaustive               exit 1 with a line for each figure that is not met
//   cuda_math_exhaustive CHANGE        the same for a model with one operation changed: must exit 1
//   cuda_math_exhaustive --sample N    prints the figures of every N-th float, to be stored
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <thread>

#include "harness/devices/cuda_math/cuda_math.hpp"
#include "tests/harness/devices/changed_sine.hpp"
#include "tests/harness/devices/sine_figures.hpp"
#include "tests/harness/devices/sine_survey.hpp"

namespace {

using namespace ropewalk::cuda_math;

struct Model {
  ArrayFunction sin;
  ArrayFunction cos;
};

template <Change change>
Model with() {
  return {changed_functions<change>[0], changed_functions<change>[1]};
}

const std::map<std::string, Model> changes = {
    {"split-fma", with<Change{.split_fma = 7}>()},               // the last one: c * (t^2 s) + s
    {"coefficient-bit", with<Change{.flipped_constant = 9}>()},  // of the cosine's t^2 term
    {"quadrant", with<Change{.quadrant_offset = 1}>()},          // one too many
    {"slow-quadrant", with<Change{.truncate_slow = true}>()},    // below instead of nearest
    {"slow-scale-bit", with<Change{.flipped_constant = 11}>()},  // pi/2 as the nearest double
};

int compare(const Surveys& found, const nlohmann::json& figures) {
  int failures = 0;
  for (const char* source : {"published", "exhaustive"}) {
    for (const auto& [name, survey, function] :
         {std::tuple("sin", found.sin, Function::sin), std::tuple("cos", found.cos, Function::cos)}) {
      for (const std::string& line : deviations(survey, function, figures.at(source).at(name))) {
        std::printf("FAIL %s, %s figures: %s\n", name, source, line.c_str());
        ++failures;
      }
    }
  }
  if (failures == 0) std::puts("PASS: all figures met");
  return failures == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  const Model published = {[](auto in, auto out) { sin(in, out); }, [](auto in, auto out) { cos(in, out); }};
  const bool sample = arguments.size() == 2 && arguments[0] == "--sample";
  const bool change = arguments.size() == 1 && changes.contains(arguments[0]);
  if (!arguments.empty() && !sample && !change) {
    std::fputs("usage: cuda_math_exhaustive [--sample N | CHANGE], CHANGE one of", stderr);
    for (const auto& [name, model] : changes) std::fprintf(stderr, " %s", name.c_str());
    std::fputs("\n", stderr);
    return 2;
  }
  const nlohmann::json figures = read_figures(ROPEWALK_TEST_DIR "/harness/devices/cuda_math_figures.json");
  const auto stride = sample ? static_cast<std::uint32_t>(std::stoul(arguments[1])) : 1U;
  const Model& model = change ? changes.at(arguments[0]) : published;
  const Surveys found = survey(model.sin, model.cos, stride, std::max(1U, std::thread::hardware_concurrency()));
  const nlohmann::json printed = {{"sin", figures_of(found.sin, Function::sin)},
                                  {"cos", figures_of(found.cos, Function::cos)}};
  std::puts(printed.dump(2).c_str());
  return sample ? 0 : compare(found, figures);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
