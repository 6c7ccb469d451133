#include "base/sha256.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace arrcoc {

namespace {

constexpr size_t kBlock = 64;

alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Compress = void (*)(uint32_t* state, const uint8_t* data, size_t blocks);

void compress_plain(uint32_t* state, const uint8_t* data, size_t blocks) {
  const auto turn = [](uint32_t x, int by) { return std::rotr(x, by); };
  for (; blocks > 0; --blocks, data += kBlock) {
    uint32_t w[64];
    for (int t = 0; t < 16; ++t)
      w[t] = uint32_t{data[4 * t]} << 24 | uint32_t{data[4 * t + 1]} << 16 |
             uint32_t{data[4 * t + 2]} << 8 | data[4 * t + 3];
    for (int t = 16; t < 64; ++t) {
      const uint32_t a = w[t - 15], b = w[t - 2];
      w[t] = w[t - 16] + w[t - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
             (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    uint32_t s[8];
    std::memcpy(s, state, sizeof s);
    // Every round moves each word one place on: the places move instead.
    for (unsigned t = 0; t < 64; ++t) {
      const auto word = [&](unsigned i) -> uint32_t& { return s[(i - t) % 8]; };
      const uint32_t a = word(0), b = word(1), c = word(2), e = word(4);
      const uint32_t one = word(7) + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                           ((e & word(5)) ^ (~e & word(6))) + kRound[t] + w[t];
      word(3) += one;
      word(7) = one + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    }
    for (int i = 0; i < 8; ++i) state[i] += s[i];
  }
}

#if defined(__x86_64__)
// The processor's own rounds: four at a time, on the halves ABEF and CDGH of the state.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha(uint32_t* state, const uint8_t* data,
                                                              size_t blocks) {
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  const __m128i cdab = _mm_shuffle_epi32(load(state), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; blocks > 0; --blocks, data += kBlock) {
    const __m128i first = abef, second = cdgh;
    __m128i w[4];
    for (int i = 0; i < 16; ++i) {
      __m128i& now = w[i % 4];
      if (i < 4) {
        now = _mm_shuffle_epi8(load(data + 16 * i), order);
      } else {
        const __m128i before = w[(i + 3) % 4];
        now = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]),
                            _mm_alignr_epi8(before, w[(i + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(now, before);
      }
      const __m128i k = _mm_add_epi32(now, load(kRound + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
    }
    abef = _mm_add_epi32(abef, first);
    cdgh = _mm_add_epi32(cdgh, second);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

Compress best() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSha = 1U << 29U;
  if (__builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & kSha))
    return compress_sha;
#endif
  return compress_plain;
}

std::array<uint8_t, 32> digest(Compress compress, const void* data, size_t size) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* bytes = static_cast<const uint8_t*>(data);
  const size_t whole = size / kBlock, rest = size % kBlock;
  compress(state, bytes, whole);
  uint8_t last[2 * kBlock] = {};
  if (rest > 0) std::memcpy(last, bytes + whole * kBlock, rest);
  last[rest] = 0x80;
  const size_t blocks = rest + 9 > kBlock ? 2 : 1;
  for (size_t i = 0; i < 8; ++i)
    last[blocks * kBlock - 1 - i] = static_cast<uint8_t>(uint64_t{size} * 8 >> 8 * i);
  compress(state, last, blocks);
  std::array<uint8_t, 32> out{};
  for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

}  // namespace

std::array<uint8_t, 32> sha256(const void* data, size_t size) {
  static const Compress compress = best();
  return digest(compress, data, size);
}

std::array<uint8_t, 32> sha256_portable(const void* data, size_t size) {
  return digest(compress_plain, data, size);
}

}  // namespace arrcoc
