/* Checks that say where they failed and go on; failures() ends main. */
#ifndef ARRCOC_TESTS_C_CHECK_H
#define ARRCOC_TESTS_C_CHECK_H

#include <arrcoc/c.h>
#include <stdio.h>
#include <string.h>

static int failed_checks;

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: %s [%s]\n", __FILE__, __LINE__, #condition, arrcoc_last_error()); \
      ++failed_checks;                                                                          \
    }                                                                                           \
  } while (0)

/* The call is refused with this status, and the text has this in it, on one line. */
#define REFUSED(call, status, text)                     \
  do {                                                  \
    CHECK((call) == (status));                          \
    CHECK(strstr(arrcoc_last_error(), (text)) != NULL); \
    CHECK(strchr(arrcoc_last_error(), '\n') == NULL);   \
  } while (0)

static int failures(void) {
  if (failed_checks > 0) fprintf(stderr, "%d checks failed\n", failed_checks);
  return failed_checks > 0;
}

#endif
