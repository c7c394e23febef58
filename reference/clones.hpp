// Clones of a function for AVX-512 and AVX2 with FMA, chosen at load time. In the default one fma() is the C library's:
// slow, same bits.
#pragma once

#ifdef __x86_64__
#define ROPEWALK_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define ROPEWALK_CLONES
#endif
