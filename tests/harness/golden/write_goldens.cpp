// write_goldens CASE_FILE DIR: `ropewalk golden` alone, for builds with other instruction sets.
#include <cstdio>

#include "harness/golden/write.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    ropewalk::write_goldens(ropewalk::read_golden_case_file(argv[1]), argv[2], 1, [] {});
  } catch (const std::exception& e) {
    std::fputs(e.what(), stderr);
    return 1;
  }
  return 0;
}
