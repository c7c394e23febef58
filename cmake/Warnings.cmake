# Arithmetic must be what is written: g++ contracts a*b+c to one FMA by default, which would change every bit pattern.
# -Wno-restrict: a false alarm of g++ 12 in std::string (GCC bug 105651).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fopenmp-simd;-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wno-restrict;-Werror;-ffp-contract=off>")

if(ROPEWALK_SANITIZE)
  # g++ takes what the sanitizers insert for uses of uninitialised values (std::regex).
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer;-Wno-maybe-uninitialized>")
  add_link_options(-fsanitize=address,undefined)
endif()
