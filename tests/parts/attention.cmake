ropewalk_test(attention_test
  SOURCES
    reference/rotation_test.cpp
  LIBRARIES ropewalk_reference)
