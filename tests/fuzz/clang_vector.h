// Included before everything when the fuzzers are built with clang.
//
// In C++20 libstdc++ marks std::vector constexpr, and clang then instantiates members of
// std::vector<c10::IValue> inside libtorch's headers, where IValue is still incomplete. gcc does
// not. Here std::vector, and nothing else, is read without constexpr, as in C++17.
#pragma once

#if defined(__clang__) && defined(__cplusplus)
// What <vector> shares with other headers keeps its constexpr.
#include <algorithm>
#include <memory>
#include <string>
#if defined(_GLIBCXX20_CONSTEXPR) && !defined(_STL_VECTOR_H)
#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
// One function of vector<bool>, used by std::fill over its bits alone, is declared constexpr
// before; under another name the two do not clash (nothing here fills bits).
#define __fill_a1 __fill_a1_of_bits
#include <vector>
#undef __fill_a1
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
#endif
#endif
