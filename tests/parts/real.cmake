# What can be tested of the real packages without installing one; script/test --real does the rest.
add_test(NAME real.dumps_are_what_their_readme_says
  COMMAND ropewalk run ${CMAKE_CURRENT_SOURCE_DIR}/data/cases/dumps.json --quiet
          --report ${CMAKE_BINARY_DIR}/real_dumps.json)

file(GLOB _real_cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cases/real/*.json)
add_test(NAME real.case_files_are_valid COMMAND ropewalk validate ${_real_cases})

file(GLOB _python CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/adapters/*.py ${PROJECT_SOURCE_DIR}/tests/real/*.py
     ${PROJECT_SOURCE_DIR}/tests/data/dumps/*.py)
add_test(NAME real.adapters_parse COMMAND python3 -c
         "import ast, sys; [ast.parse(open(file).read(), file) for file in sys.argv[1:]]"
         ${_python} ${PROJECT_SOURCE_DIR}/script/real-table)
