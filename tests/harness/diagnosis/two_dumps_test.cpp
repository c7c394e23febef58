#include "harness/diagnosis/two_dumps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/bad_input.hpp"
#include "tests/harness/diagnosis/dumps.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

Dump dump_of(const Tensors& tensors, const std::string& name, const Known& known = usual()) {
  Dump dump = DumpFolder().read(tensors, known);
  dump.file = name;
  return dump;
}

TEST(TwoDumps, TheFirstStageThatDiffersAndTheCloserOne) {
  const Dump good = dump_of(made_by("hf-llama-5.24", dumped_problem()), "good");
  const Dump bad = dump_of(made_by("inv-freq-bfloat16", dumped_problem()), "bad");
  const TwoDumps two = compare_dumps(bad, good);
  EXPECT_EQ(two.first_stage, "inv_freq");
  EXPECT_EQ(two.rows, kRows);
  for (const Result& result : two.results)
    if (result.stage == "cos") {
      EXPECT_EQ(result.closer->subject, "good");
    }
  EXPECT_THAT(two_dumps_text(two), HasSubstr("they differ from inv_freq on, at 600 positions"));
}

TEST(TwoDumps, TheSame) {
  const Dump dump = dump_of(only(made_by("hf-llama-5.24", dumped_problem()), {"cos", "sin"}), "a");
  EXPECT_EQ(compare_dumps(dump, dump).first_stage, "");
  EXPECT_THAT(two_dumps_text(compare_dumps(dump, dump)), HasSubstr("the same bits at 600 positions"));
}

TEST(TwoDumps, OnlyCommonPositions) {
  const Tensors all = only(made_by("hf-llama-5.24", dumped_problem()), {"cos", "sin"});
  Tensors some;
  for (const auto& [name, tensor] : all) some[name] = tensor.rows(590, 10);
  Known known = usual();
  known.positions = {590, 591, 592, 593, 594, 595, 596, 597, 598, 599};
  const TwoDumps two = compare_dumps(dump_of(all, "a"), dump_of(some, "b", known));
  EXPECT_EQ(two.rows, 10);
  EXPECT_EQ(two.first_stage, "");
  for (std::int64_t& p : known.positions) p += 100;
  EXPECT_THROW(compare_dumps(dump_of(all, "a"), dump_of(some, "b", known)), BadInput);
}

TEST(TwoDumps, NothingInCommon) {
  const Tensors all = made_by("hf-llama-5.24", dumped_problem());
  EXPECT_THROW(compare_dumps(dump_of(only(all, {"cos"}), "a"), dump_of(only(all, {"sin"}), "b")), BadInput);
}

}  // namespace
}  // namespace ropewalk
