ropewalk_test(whole_case_test
  SOURCES harness/cases/inputs_test.cpp harness/checks/attention_case_test.cpp harness/checks/random_attention_test.cpp
    harness/checks/whole_case_test.cpp
  LIBRARIES ropewalk_checks)

# The shipped case files themselves: every verdict as they expect it.
foreach(_name lora early_late attention rotations)
  add_test(NAME cases.${_name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND ropewalk run cases/${_name}.json --report ${CMAKE_BINARY_DIR}/reports/${_name}.json)
endforeach()
