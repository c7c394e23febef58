if(ROPEWALK_CUDA_MATH)
  ropewalk_test(cuda_kernels_test SOURCES harness/devices/cuda_kernels_test.cpp LIBRARIES ropewalk_recipes ropewalk_devices)

  ropewalk_test(kernels_command_test SOURCES harness/cli/kernels_command_test.cpp LIBRARIES nlohmann_json::nlohmann_json)
  add_dependencies(kernels_command_test ropewalk)

  add_test(NAME cases.kernels WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND ropewalk run cases/kernels.json --report ${CMAKE_BINARY_DIR}/reports/kernels.json)

  # The PTX of the kernels, for the oldest and the newest architecture. Without nvcc its tests are skipped.
  set(_ptx)
  if(ROPEWALK_CUDA_TOOLKIT)
    set(_folder ${PROJECT_SOURCE_DIR}/harness/devices/cuda_kernels)
    file(GLOB _bodies CONFIGURE_DEPENDS ${_folder}/*.hpp ${_folder}/*.cuh)
    list(GET CMAKE_CUDA_ARCHITECTURES 0 _oldest)
    list(GET CMAKE_CUDA_ARCHITECTURES -1 _newest)
    foreach(_architecture ${_oldest} ${_newest})
      string(REGEX MATCH "[0-9]+" _number ${_architecture})
      set(_file ${CMAKE_CURRENT_BINARY_DIR}/kernels_${_number}.ptx)
      add_custom_command(OUTPUT ${_file} DEPENDS ${_folder}/gpu.cu ${_bodies} ${PROJECT_SOURCE_DIR}/harness/tensors/half.hpp
        COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -ptx -arch=compute_${_number} -I${PROJECT_SOURCE_DIR} -o ${_file} ${_folder}/gpu.cu)
      list(APPEND _ptx ${_file})
    endforeach()
  endif()
  ropewalk_test(ptx_test SOURCES harness/devices/ptx_test.cpp ${_ptx} LIBRARIES fmt::fmt-header-only)
  list(JOIN _ptx ":" _files)
  target_compile_definitions(ptx_test PRIVATE ROPEWALK_PTX="${_files}")
endif()
