if(ROPEWALK_CUDA_MATH)
  set(_survey harness/devices/exact_math.cpp harness/devices/sine_figures.cpp harness/devices/sine_survey.cpp)
  set(_libraries ropewalk_cuda_math nlohmann_json::nlohmann_json ${MPFR_LIBRARY} ${GMP_LIBRARY})

  ropewalk_test(cuda_math_test
    SOURCES harness/devices/cuda_math_test.cpp harness/devices/cuda_power_test.cpp ${_survey}
    LIBRARIES ${_libraries})

  # All 2^32 floats: minutes, so no CTest. `cmake --build build --target exhaustive` builds and runs it.
  add_executable(cuda_math_exhaustive EXCLUDE_FROM_ALL harness/devices/cuda_math_exhaustive.cpp ${_survey})
  target_include_directories(cuda_math_exhaustive PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(cuda_math_exhaustive PRIVATE ${_libraries})
  target_compile_definitions(cuda_math_exhaustive PRIVATE ROPEWALK_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  add_custom_target(exhaustive COMMAND cuda_math_exhaustive USES_TERMINAL)
endif()
