add_executable(load_golden EXCLUDE_FROM_ALL harness/golden/load_golden.cpp)
target_link_libraries(load_golden PRIVATE nlohmann_json::nlohmann_json)
target_compile_options(load_golden PRIVATE -Wno-conversion)

ropewalk_test(gate_test SOURCES harness/cli/gate_document_test.cpp harness/cli/golden_command_test.cpp LIBRARIES nlohmann_json::nlohmann_json)
target_compile_definitions(gate_test PRIVATE ROPEWALK_LOAD_GOLDEN="$<TARGET_FILE:load_golden>")
add_dependencies(gate_test ropewalk load_golden)
