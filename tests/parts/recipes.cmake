ropewalk_test(recipes_test SOURCES harness/recipes/scaling_recipes_test.cpp harness/recipes/tracked_test.cpp
  LIBRARIES ropewalk_checks)
