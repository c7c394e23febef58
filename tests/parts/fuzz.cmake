# libFuzzer targets of the readers of tensor files, for a minute in all. libFuzzer comes with clang, whatever compiles the
# rest; without it the tests are there and say that they are skipped.
find_program(FUZZ_CXX NAMES clang++ clang++-14 clang++-16)
set(_fuzz_flags -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
set(_can_fuzz FALSE)
if(FUZZ_CXX)
  set(_probe ${CMAKE_BINARY_DIR}/fuzz/probe)
  file(WRITE ${_probe}.cpp "extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }\n")
  execute_process(COMMAND ${FUZZ_CXX} ${_fuzz_flags} ${_probe}.cpp -o ${_probe} RESULT_VARIABLE _failed OUTPUT_QUIET ERROR_QUIET)
  if(_failed EQUAL 0)
    set(_can_fuzz TRUE)
  endif()
endif()

# doubles.cpp is for who computes with tensors; reading needs no half precision, which older clangs lack.
file(GLOB _readers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/tensors/*.cpp)
list(REMOVE_ITEM _readers ${PROJECT_SOURCE_DIR}/harness/tensors/doubles.cpp)
file(GLOB _headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/tensors/*.hpp)
set(_reader_objects)
if(_can_fuzz)
  foreach(_source ${_readers})
    get_filename_component(_stem ${_source} NAME_WE)
    set(_object ${CMAKE_BINARY_DIR}/fuzz/${_stem}.o)
    add_custom_command(OUTPUT ${_object} DEPENDS ${_source} ${_headers} VERBATIM
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${FUZZ_CXX} ${_fuzz_flags} -I${PROJECT_SOURCE_DIR} -c ${_source} -o ${_object})
    list(APPEND _reader_objects ${_object})
  endforeach()
endif()

foreach(_reader safetensors npy npz torch_file)
  if(NOT _can_fuzz)
    add_test(NAME fuzz.${_reader} COMMAND sh -c "echo 'skipped: libFuzzer is missing (packages clang and libclang-rt-dev)'; exit 77")
    set_tests_properties(fuzz.${_reader} PROPERTIES SKIP_RETURN_CODE 77)
    continue()
  endif()
  set(_program ${CMAKE_BINARY_DIR}/fuzz/${_reader})
  add_custom_command(OUTPUT ${_program}
    COMMAND ${FUZZ_CXX} ${_fuzz_flags} -I${PROJECT_SOURCE_DIR}
            -DROPEWALK_STATE_FILE="${CMAKE_CURRENT_SOURCE_DIR}/data/tensors/state.pt"
            ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${_reader}.cpp ${_reader_objects} ${ZIP_LIBRARY} -o ${_program}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${_reader}.cpp ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.hpp ${_reader_objects} ${_headers}
    VERBATIM)
  add_custom_target(fuzz_${_reader} ALL DEPENDS ${_program})
  add_test(NAME fuzz.${_reader} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run ${_program} 12 ${CMAKE_CURRENT_SOURCE_DIR}/data/tensors
           WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()
