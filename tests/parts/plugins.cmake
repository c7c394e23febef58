add_subdirectory(${PROJECT_SOURCE_DIR}/harness/adapters/example_plugin ${CMAKE_BINARY_DIR}/example_plugin)

function(ropewalk_bad_plugin name source)
  add_library(${name} MODULE ${source})
  target_link_libraries(${name} PRIVATE m)
  set_target_properties(${name} PROPERTIES PREFIX "" C_STANDARD 11 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
endfunction()
set(_bad_plugins no_describe)
ropewalk_bad_plugin(no_describe data/plugins/no_describe.c)
foreach(_mode CRASH ABORT HANG EXIT PRINTS NULL_DESCRIPTION NO_JSON OTHER_PROTOCOL NO_OPERATIONS UNSUPPORTED FAILED ODD_STATUS
              TWICE WRONG_SHAPE WRONG_DTYPE ODD_DTYPE NEGATIVE_SIZE NO_DATA ON_A_GPU NOTHING STRIDED NANS)
  ropewalk_bad_plugin(misbehave_${_mode} data/plugins/misbehave.c)
  target_compile_definitions(misbehave_${_mode} PRIVATE MISBEHAVE=${_mode} MISBEHAVE_${_mode})
  list(APPEND _bad_plugins misbehave_${_mode})
endforeach()

ropewalk_test(plugins_test
  SOURCES harness/plugin_host/dlpack_layout.cpp harness/plugin_host/dlpack_test.cpp harness/plugin_host/plugin_test.cpp
  LIBRARIES ropewalk_external ropewalk_plugin)
target_include_directories(plugins_test SYSTEM PRIVATE ${LibTorch_INCLUDE_DIR})
target_compile_definitions(plugins_test PRIVATE ROPEWALK_PLUGINS="${CMAKE_BINARY_DIR}/plugins"
  ROPEWALK_EXAMPLE_PLUGIN="$<TARGET_FILE:example_table>")
add_dependencies(plugins_test ropewalk-plugin-host example_table ${_bad_plugins})

ropewalk_test(outside_test SOURCES harness/cli/outside_test.cpp LIBRARIES nlohmann_json::nlohmann_json)
target_compile_definitions(outside_test PRIVATE ROPEWALK_PLUGINS="${CMAKE_BINARY_DIR}/plugins"
  ROPEWALK_EXAMPLE_PLUGIN="$<TARGET_FILE:example_table>")
add_dependencies(outside_test ropewalk ropewalk-plugin-host example_table misbehave_CRASH)
