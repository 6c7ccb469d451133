// What stands behind the handles of arrcoc/c.h, and the wall that no exception passes.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/c.h"
#include "arrcoc/error.h"
#include "arrcoc/picture.h"

namespace arrcoc::capi {

inline std::atomic<int64_t> live_handles{0};

struct Counted {
  Counted() { ++live_handles; }
  ~Counted() { --live_handles; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

// Keeps the text for arrcoc_last_error.
arrcoc_status failed(arrcoc_status status, const char* text) noexcept;
arrcoc_status status_of(ErrorCode code) noexcept;

template <class Body>
arrcoc_status guarded(const Body& body) noexcept {
  try {
    body();
    return ARRCOC_OK;
  } catch (const Error& problem) {
    return failed(status_of(problem.code()), problem.what());
  } catch (const std::bad_alloc&) {
    return failed(ARRCOC_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& problem) {
    return failed(ARRCOC_INTERNAL, problem.what());
  } catch (...) {
    return failed(ARRCOC_INTERNAL, "unknown exception");
  }
}

template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) throw Error(ErrorCode::bad_argument, std::string(what) + " is NULL");
  return *pointer;
}

// As guarded, with *out set to nothing first.
template <class Out, class Body>
arrcoc_status making(Out** out, const Body& body) noexcept {
  if (out != nullptr) *out = nullptr;
  return guarded([&] {
    required(out, "out");
    *out = body().release();
  });
}

void check_size(size_t given, size_t known);

// The caller's values, or the defaults for NULL.
template <class Params>
Params given_or(const Params* given, const Params& defaults) {
  if (given == nullptr) return defaults;
  check_size(given->size, sizeof(Params));
  return *given;
}

template <class Params>
arrcoc_status init(Params* params, size_t size, Params defaults) noexcept {
  return guarded([&] {
    required(params, "params");
    check_size(size, sizeof(Params));
    defaults.size = size;
    *params = defaults;
  });
}

// [3,H,W] to [H,W,3]. Error{bad_argument} when the room is too small.
void copy_packed(const at::Tensor& rgb, uint8_t* out, size_t bytes);

}  // namespace arrcoc::capi

struct arrcoc_model {
  std::unique_ptr<const arrcoc::Asker> asker;
  std::string name;
  arrcoc::capi::Counted counted;
};

struct arrcoc_picture {
  arrcoc::Picture picture;
  arrcoc::capi::Counted counted;
};

struct arrcoc_answer {
  arrcoc::Answer answer;
  std::vector<arrcoc::Picture> pictures;  // for tokens and views
  arrcoc::AskOptions options;             // that it was made with
  arrcoc::capi::Counted counted;
};

struct arrcoc_tokens {
  std::vector<arrcoc_token> list;
  at::Tensor patches;
  arrcoc::capi::Counted counted;
};
