# nvcc, where there is one: on PATH, in CUDACXX, or in /usr/local/cuda. Everything but what needs a GPU is built without it.
#
# Input:  ROPEWALK_CUDA: AUTO (the default: where nvcc is found), ON (its absence is an error), OFF.
# Output: ROPEWALK_CUDA_TOOLKIT, and ropewalk_cuda_target(TARGET) for targets with .cu files.
set(ROPEWALK_CUDA AUTO CACHE STRING "Kernels for GPUs: AUTO, ON, OFF")
set(ROPEWALK_CUDA_TOOLKIT OFF)
if(NOT ROPEWALK_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Turing to Hopper as machine code, PTX of Hopper for the data centre's later chips, and of the newest that nvcc knows.
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE _known)
    string(REGEX MATCHALL "[0-9]+" _known "${_known}")
    list(SORT _known COMPARE NATURAL)
    list(GET _known -1 _newest)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90 ${_newest}-virtual)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_EXTENSIONS OFF)
    if(CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
    endif()
    set(ROPEWALK_CUDA_TOOLKIT ON)
    message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION}: kernels for ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(ROPEWALK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ROPEWALK_CUDA=ON, and no nvcc was found")
  else()
    message(STATUS "CUDA Toolkit: no nvcc; nothing for GPUs is built, the host twins of the kernels are")
  endif()
endif()

function(ropewalk_cuda_target target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-ffp-contract=off>)
endfunction()
