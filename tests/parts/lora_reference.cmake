ropewalk_test(lora_reference_test
  SOURCES
    reference/dot_test.cpp
    reference/lora_edges_test.cpp
    reference/lora_map_test.cpp
    reference/lora_merge_test.cpp
    reference/lora_oracle.cpp
    reference/lora_values_test.cpp
  LIBRARIES ropewalk_reference ${ARB_LIBRARY} ${FLINT_LIBRARY})
