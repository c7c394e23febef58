if(ROPEWALK_CUDA_MATH)
  ropewalk_test(record_test SOURCES harness/cli/record_command_test.cpp
    LIBRARIES ropewalk_golden ropewalk_tensors nlohmann_json::nlohmann_json)
  add_dependencies(record_test ropewalk)
endif()
if(ROPEWALK_CUDA_TOOLKIT AND ROPEWALK_CUDA_MATH)
  add_subdirectory(gpu)
  # Skipped (77) where there is no GPU. What it asserts takes minutes: script/gpu runs it.
  add_test(NAME gpu_checks COMMAND gpu_checks ${CMAKE_BINARY_DIR}/gpu_checks.json)
  set_tests_properties(gpu_checks PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 480)
endif()
