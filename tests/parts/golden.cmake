
# A program that writes golden folders with the loops of the reference for one instruction set only, in place of one
# clone for each: its own objects come before the library's.
function(golden_writer name march)
  add_executable(${name} EXCLUDE_FROM_ALL harness/golden/write_goldens.cpp ${_loops})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE "-Dtarget_clones(...)=target(\"arch=${march}\")")
  target_link_libraries(${name} PRIVATE ropewalk_golden)
endfunction()

set(_writers)
set(_loops ${PROJECT_SOURCE_DIR}/reference/rows.cpp ${PROJECT_SOURCE_DIR}/reference/amplified_rows.cpp
  ${PROJECT_SOURCE_DIR}/reference/dot.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(_march x86-64 x86-64-v3 x86-64-v4)
    golden_writer(golden_writer_${_march} ${_march})
    list(APPEND _writers golden_writer_${_march})
  endforeach()
  set_source_files_properties(${_loops} PROPERTIES
    COMPILE_OPTIONS "-O3;-fopenmp-simd;-fno-math-errno;-fno-trapping-math")
endif()

ropewalk_test(golden_test
  SOURCES harness/golden/attention_test.cpp harness/golden/axes_test.cpp harness/golden/instruction_sets_test.cpp harness/golden/table_test.cpp
          harness/golden/verify_test.cpp reference/arb_oracle.cpp reference/attention_oracle.cpp
          reference/scaling_oracle.cpp
  LIBRARIES ropewalk_golden ropewalk_report fmt::fmt-header-only ${ARB_LIBRARY} ${FLINT_LIBRARY})
target_compile_definitions(golden_test PRIVATE GOLDEN_WRITERS="${CMAKE_BINARY_DIR}/golden_writer_")
if(_writers)
  add_dependencies(golden_test ${_writers})
endif()
