ropewalk_test(reference_test
  SOURCES
    reference/angles_test.cpp
    reference/arb_oracle.cpp
    reference/axes_test.cpp
    reference/frequencies_test.cpp
    reference/frequency_rounding_test.cpp
    reference/instruction_sets_test.cpp
    reference/layout_test.cpp
    reference/paths_test.cpp
    reference/rounding_test.cpp
    reference/scaling_edges_test.cpp
    reference/scaling_facts_test.cpp
    reference/scaling_oracle.cpp
    reference/scaling_test.cpp
    reference/self_check_test.cpp
    reference/table_test.cpp
  LIBRARIES ropewalk_reference ${ARB_LIBRARY} ${FLINT_LIBRARY})
