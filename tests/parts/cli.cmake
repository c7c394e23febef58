ropewalk_test(cli_test SOURCES harness/cli/cli_test.cpp harness/cli/models_command_test.cpp harness/cli/readme_test.cpp LIBRARIES nlohmann_json::nlohmann_json)
add_dependencies(cli_test ropewalk)
