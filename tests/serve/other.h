// Another program at the example log of a server.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "support.h"

namespace arrcoc::serving::test {

// Says the last value of what it is told to do, or what was wrong.
class Other {
 public:
  explicit Other(const std::string& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &db_), SQLITE_OK);
  }
  ~Other() { sqlite3_close(db_); }
  std::string operator()(const std::string& sql) {
    std::string last;
    char* problem = nullptr;
    sqlite3_exec(
        db_, sql.c_str(),
        [](void* to, int, char** values, char**) {
          *static_cast<std::string*>(to) = values[0] == nullptr ? "" : values[0];
          return 0;
        },
        &last, &problem);
    if (problem != nullptr) last = problem;
    sqlite3_free(problem);
    return last;
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace arrcoc::serving::test
