# Includes ATen: a program of its own, so that nothing else waits for it.
ropewalk_test(autograd_test SOURCES harness/recipes/autograd_test.cpp LIBRARIES ropewalk_checks LibTorch::LibTorch)
