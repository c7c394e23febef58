// The bytes of golden folders do not depend on the instruction set: builds limited to one, and the C library limited.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/harness/golden/folders.hpp"

namespace ropewalk::test {
namespace {

#ifdef __x86_64__

struct Writer {
  const char* march;
  const char* tunables;  // what glibc may use
};

bool runs_here(const std::string& march) {
  if (march == "x86-64-v4") return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return march != "x86-64-v3" || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

TEST(InstructionSets, GoldenFoldersAreTheSameBytes) {
  const Folder folder;
  const auto file = folder.write("cases.json", R"({"schema_version": 1, "name": "golden", "cases": [
    {"name": "dense", "rope": {"head_dim": [20, 256], "base": 10000, "max_position": 90},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "far", "rope": {"head_dim": 128, "base": 500000, "positions": {"log_spaced": [0, 16777215], "count": 40}},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "scaled", "rope": {"head_dim": 128, "base": 10000, "scaling": "yarn", "factor": 32, "truncate": false,
     "original_max_position_embeddings": 4096, "max_position": 90}, "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "axes", "rope": {"head_dim": 128, "mrope_section": [24, 20, 20], "mrope_interleaved": true,
     "positions": {"tokens": [3, [1, 5, 6], 2]}}, "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "masks", "rope": {"head_dim": 8, "max_position": 13},
     "attention": {"heads": 4, "kv_heads": 2, "q_len": 5, "causal": "bottom_right", "mask": "additive", "alibi": true,
                   "sinks": true, "softcap": 20}, "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "attention", "rope": {"head_dim": [8, 10], "max_position": 21},
     "attention": {"heads": 4, "kv_heads": 2, "causal": "top_left", "inputs": ["normal", "log_uniform", "equal_keys"]},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "lora", "lora": {"heads": 4, "groups": 2, "head_dim": 3, "embedding": 70, "r": 3, "alpha": 2,
     "enable": [true, false, true], "layout": "grouped", "batch": 2, "seq": 5},
     "dtype": ["float32", "bfloat16", "float16", "float64"]}]})");
  write_goldens(read_golden_case_file(file), folder.path() / "here", 2, [] {});
  const auto here = bytes_of_folder(folder.path() / "here");
  ASSERT_EQ(here.size(), 53U);
  int compared = 0;
  for (const Writer& writer : {Writer{"x86-64", ""}, Writer{"x86-64", "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-AVX"},
                               Writer{"x86-64-v3", ""}, Writer{"x86-64-v4", ""}}) {
    if (!runs_here(writer.march)) continue;
    const auto out = folder.path() / ("out" + std::to_string(compared));
    const std::string command = std::string("GLIBC_TUNABLES='") + writer.tunables + "' " GOLDEN_WRITERS + writer.march +
                                " " + file.string() + " " + out.string();
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe): one thread here
    EXPECT_EQ(bytes_of_folder(out), here) << command;
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

#endif

}  // namespace
}  // namespace ropewalk::test
