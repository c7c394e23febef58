// The host twin of every kernel is its recipe's steps on cuda-math, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "harness/cases/inputs.hpp"
#include "harness/devices/functions.hpp"
#include "harness/recipes/kernels.hpp"
#include "harness/recipes/reductions.hpp"
#include "harness/recipes/run.hpp"
#include "harness/recipes/whole_run.hpp"
#include "tests/gpu/bases.hpp"

namespace ropewalk {
namespace {

std::vector<Recipe> with_kernels(Kind kind) {
  std::vector<Recipe> out;
  for (Recipe& recipe : all_recipes())
    if (!recipe.kernel.empty() && recipe.kind == kind) out.push_back(std::move(recipe));
  return out;
}

bool is_approximation(const Recipe& recipe) { return recipe.kernel.find("fast") != std::string::npos; }
bool has_no_statement(const Recipe& recipe) { return recipe.kernel.find("sincospif") != std::string::npos; }
bool on_a_gpu() { return !make_device("cuda-kernels")->emulated(); }

const std::vector<std::int64_t> kPositions{0, 1, 2, 3, 100, 2047, 65537, 131071, 1048575};

Case problem(DType dtype) {
  Case c;
  c.id = "kernels";
  c.rope.head_dim = 20;
  c.positions.list = kPositions;
  c.dtype = dtype;
  return c;
}

TEST(Kernels, HaveARecipeEach) {
  for (const Kind kind : {Kind::table, Kind::attention, Kind::lora}) {
    std::multiset<std::string> named;
    for (const Recipe& recipe : with_kernels(kind)) named.insert(recipe.kernel);
    EXPECT_EQ(named, std::multiset<std::string>(kernels_of(kind).begin(), kernels_of(kind).end())) << name_of(kind);
  }
}

TEST(Kernels, MakeTheTableOfTheirSteps) {
  const Case c = problem(DType::float32);
  for (const Recipe& recipe : with_kernels(Kind::table)) {
    if (is_approximation(recipe) || has_no_statement(recipe)) continue;
    const auto made = RecipeRun(recipe, make_device("cuda-kernels"), c, false).rows(kPositions);
    const auto steps = RecipeRun(recipe, make_device("cuda-math"), c, false).rows(kPositions);
    for (const char* stage : {"positions", "inv_freq", "angle", "cos", "sin"})
      EXPECT_TRUE(same_bits(made.at(stage), steps.at(stage))) << recipe.name << " " << stage;
  }
}

// A phase in float64 keeps what a float32 product loses: the ways differ, each in its own way.
TEST(Kernels, DifferInTheirWays) {
  const Case c = problem(DType::float32);
  std::vector<Tensor> cosines;
  for (const char* name : {"kernel-table-sincosf", "kernel-table-phase-fma", "kernel-table-sincospif"})
    cosines.push_back(RecipeRun(find_recipe(name), make_device("cuda-kernels"), c, false).rows(kPositions).at("cos"));
  EXPECT_FALSE(same_bits(cosines[0], cosines[1]));
  EXPECT_FALSE(same_bits(cosines[1], cosines[2]));
}

TEST(Kernels, ApproximateOnlyOnAGpu) {
  if (on_a_gpu()) GTEST_SKIP() << "a GPU is here, which runs them";
  for (const char* name : {"kernel-table-fast", "kernel-table-fast-reduced"}) {
    const RecipeRun run(find_recipe(name), make_device("cuda-kernels"), problem(DType::float32), false);
    try {
      run.rows(kPositions);
      ADD_FAILURE() << name << " ran";
    } catch (const Refused& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("bounded by documentation, not run: CUDA C++ Programming Guide"));
    }
  }
}

void expect_same(const Recipe& recipe, const Case& c, const std::vector<std::string>& stages) {
  const Values inputs = make_inputs(c);
  const WholeRun made = run_whole(recipe, make_device("cuda-kernels"), c, inputs, false);
  const WholeRun steps = run_whole(recipe, make_device("cuda-math"), c, inputs, false);
  for (const std::string& stage : stages) {
    ASSERT_TRUE(made.failed.empty() && made.values.contains(stage)) << recipe.name << " " << stage;
    EXPECT_TRUE(same_bits(made.values.at(stage), steps.values.at(stage)))
        << recipe.name << " " << stage << " " << name_of(c.dtype);
  }
}

TEST(Kernels, RotateAsTheirSteps) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16})
    for (const Recipe& recipe : with_kernels(Kind::attention))
      for (const double factor : {1.0, 0.4}) {
        Case c = problem(dtype);
        c.rope.partial_rotary_factor = factor;
        c.attention.emplace();
        c.attention->heads = 6;
        c.attention->kv_heads = 2;
        c.attention->batch = 2;
        expect_same(recipe, c, {"angle", "cos", "sin", "rotated_q", "rotated_k"});
      }
}

TEST(Kernels, PadAsTheirSteps) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16})
    for (const Recipe& recipe : with_kernels(Kind::lora))
      for (const char* layout : {"contiguous", "grouped"})
        for (const std::array<bool, 3>& enable :
             {std::array{true, true, true}, {true, false, true}, {false, true, false}}) {
          Case c = problem(dtype);
          c.lora.emplace();
          *c.lora = {.heads = 4,
                     .groups = 2,
                     .head_dim = 4,
                     .embedding = 16,
                     .r = 2,
                     .batch = 2,
                     .seq = 3,
                     .alpha = 16,
                     .enable = enable,
                     .layout = layout};
          expect_same(recipe, c, {"lora_index", "lora_padded"});
        }
}

// script/gpu compares powf over these bases and widths: none of the case files' may be missing.
TEST(Powers, OfTheCaseFilesAreComparedOnAGpu) {
  for (const auto& entry : std::filesystem::directory_iterator(ROPEWALK_SOURCE_DIR "/cases")) {
    if (entry.path().extension() != ".json" || entry.path().stem() == "goldens") continue;
    for (const Case& cell : read_case_file(entry.path())) {
      if (cell.kind() == Kind::lora) continue;
      EXPECT_THAT(gpu_checks::kBases, testing::Contains(static_cast<float>(cell.rope.base))) << cell.id;
      EXPECT_LE(cell.rope.rotary_dim(), gpu_checks::kLargestWidth) << cell.id;
    }
  }
}

// What `ropewalk devices` calls refused is refused, and nothing else.
TEST(Functions, AreRefusedWhereTheyAreSaidToBe) {
  Tensor x(DType::float32, {2, 2});
  std::fill(x.as<float>().begin(), x.as<float>().end(), 0.5F);
  const auto operands = [&](Op op) -> std::vector<Argument> {
    if (op == Op::power) return {2.0, x};
    if (op == Op::softmax) return {x, 1.0};
    if (op == Op::fma) return {x, x, x};
    if (op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::matmul) return {x, x};
    return {x};
  };
  for (const char* device : {"cpu", "cuda-math"})
    for (const FunctionNote& note : functions_of(device, false))
      for (const Op op : note.ops) {
        if (is_ieee_sequence(op)) continue;  // no device's own
        bool refused = false;
        try {
          make_device(device)->apply(op, operands(op), DType::float32);
        } catch (const Refused&) {
          refused = true;
        }
        EXPECT_EQ(refused, note.reliance == Reliance::refused) << device << " " << note.functions;
      }
}

// The steps' own reductions keep what their bound says, against long double's 2 pi.
TEST(Reductions, KeepTheirBound) {
  constexpr long double turn = 6.283185307179586476925286766559005768L;
  for (const Op op : {Op::less_turns, Op::less_turns_fma, Op::half_turns, Op::half_turns_fma}) {
    const bool half = op == Op::half_turns || op == Op::half_turns_fma;
    Tensor x(DType::float64, {4096});
    for (int i = 0; i < 4096; ++i) x.as<double>()[i] = std::ldexp(1.0 + i * 0x1.9p-13, i % 21);
    const Tensor got = run_ieee_sequence(op, std::vector<Argument>{x});
    for (int i = 0; i < 4096; ++i) {
      const long double angle = x.as<double>()[i];
      long double exact = angle - std::nearbyint(angle / turn) * turn;
      long double error = (half ? turn / 2 : 1) * got.as<float>()[i] - exact;
      error -= std::nearbyint(error / turn) * turn;  // the half turn may be taken to either side
      EXPECT_LE(std::fabs(error), argument_error(op, static_cast<double>(angle))) << x.as<double>()[i];
    }
  }
}

}  // namespace
}  // namespace ropewalk
