# Finds the CPU part of LibTorch: headers, libtorch_cpu and libc10. The wheel's own package file insists on a CUDA tool
# chain even for those who need only the CPU, so it is not used.
#
# Input:  ROPEWALK_LIBTORCH, a folder that holds include/ and lib/ (a LibTorch archive, or the torch folder of a wheel);
#         default: the wheel in the build folder's virtual environment, which script/setup installs.
# Output: the target LibTorch::LibTorch, LibTorch_VERSION, LibTorch_LIBRARY_DIR.
file(GLOB _venv_torch ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torch)
set(ROPEWALK_LIBTORCH "${_venv_torch}" CACHE PATH "A LibTorch folder with include/ and lib/")

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h PATHS ${ROPEWALK_LIBTORCH}/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS ${ROPEWALK_LIBTORCH}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS ${ROPEWALK_LIBTORCH}/lib NO_DEFAULT_PATH)

if(LibTorch_INCLUDE_DIR)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" _numbers "${_lines}")
  list(JOIN _numbers "." LibTorch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run script/setup, or name a LibTorch with -DROPEWALK_LIBTORCH=/path/to/libtorch")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  get_filename_component(LibTorch_LIBRARY_DIR ${LibTorch_CPU_LIBRARY} DIRECTORY)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${LibTorch_INCLUDE_DIR})
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
  # The libraries name each other by RPATH; at link time the linker must find them too.
  file(GLOB _nvidia_dirs ${LibTorch_LIBRARY_DIR}/../../nvidia/*/lib)
  foreach(_dir ${LibTorch_LIBRARY_DIR} ${_nvidia_dirs})
    target_link_options(LibTorch::LibTorch INTERFACE -Wl,-rpath-link,${_dir})
  endforeach()
endif()
