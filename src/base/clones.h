// ARRCOC_CLONES before a function with a hot loop: it is compiled for the baseline and for AVX2,
// and the fitting one is chosen when the program starts. Neither contracts or reorders arithmetic:
// both give the same bits.
#pragma once

// Sanitizers start only after the functions that choose have run.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ARRCOC_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define ARRCOC_CLONES
#endif
