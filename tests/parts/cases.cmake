ropewalk_test(cases_test
  SOURCES harness/cases/axes_case_test.cpp harness/cases/bad_case_file_test.cpp harness/cases/case_file_test.cpp harness/cases/docs_test.cpp
          harness/cases/known_models_test.cpp harness/cases/model_case_test.cpp harness/cases/model_config_test.cpp
          harness/cases/schema_test.cpp
          harness/recipes/bad_recipe_file_test.cpp harness/recipes/recipe_file_test.cpp
  LIBRARIES ropewalk_recipes ropewalk_cases ropewalk_report)
