// The example log: SQLite in WAL mode, synchronous=FULL, so that what was acknowledged survives a
// crash of the process or the machine.
#include <sqlite3.h>

#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kSchema = R"sql(
  CREATE TABLE IF NOT EXISTS examples(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    model TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, policy TEXT NOT NULL,
    confidence REAL NOT NULL, milliseconds REAL NOT NULL,
    budget INTEGER NOT NULL, kept INTEGER NOT NULL, native INTEGER NOT NULL,
    allocation TEXT NOT NULL, picture BLOB,
    rating TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '');
  CREATE INDEX IF NOT EXISTS examples_time ON examples(time);
)sql";
constexpr const char* kColumns =
    "number, id, time, model, question, answer, policy, confidence, milliseconds, budget, kept, "
    "native, allocation, picture, rating, comment";
constexpr int kPatienceMs = 5000;  // with another process that holds the lock

[[noreturn]] void fail(sqlite3* db, const std::string& what) {
  throw Error(ErrorCode::io, "example log: " + what + ": " + sqlite3_errmsg(db));
}

class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) : db_(db) {
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
      fail(db, "cannot prepare");
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  Statement& bind(double value) {
    sqlite3_bind_double(statement_, ++bound_, value);
    return *this;
  }
  Statement& bind(const std::vector<uint8_t>& bytes) {
    ++bound_;
    if (!bytes.empty())
      sqlite3_bind_blob(statement_, bound_, bytes.data(), static_cast<int>(bytes.size()),
                        SQLITE_TRANSIENT);
    return *this;
  }
  // True while there is a row.
  bool step(const char* what) {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(db_, what);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* value = sqlite3_column_text(statement_, column);
    return value == nullptr ? "" : reinterpret_cast<const char*>(value);
  }
  int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::vector<uint8_t> blob(int column) const {
    const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::vector<uint8_t>() : std::vector<uint8_t>(data, data + size);
  }

 private:
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

Example row(const Statement& s) {
  Example e;
  e.number = s.number(0);
  e.id = s.text(1);
  e.time = s.text(2);
  e.model = s.text(3);
  e.question = s.text(4);
  e.answer = s.text(5);
  e.policy = s.text(6);
  e.confidence = s.real(7);
  e.milliseconds = s.real(8);
  e.budget = s.number(9);
  e.kept = s.number(10);
  e.native = s.number(11);
  e.allocation = s.text(12);
  e.picture = s.blob(13);
  e.rating = parse_enum<Rating>(s.text(14));
  e.comment = s.text(15);
  return e;
}

void execute(sqlite3* db, const char* sql, const char* what) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db, what);
}

}  // namespace

struct ExampleLog::State {
  sqlite3* db = nullptr;
  std::mutex mutex;
  ~State() { sqlite3_close(db); }
};

ExampleLog::ExampleLog(const std::string& path) : state_(std::make_unique<State>()) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(path.c_str(), &state_->db, flags, nullptr) != SQLITE_OK)
    fail(state_->db, "cannot open " + path);
  sqlite3_busy_timeout(state_->db, kPatienceMs);
  execute(state_->db, "PRAGMA journal_mode=WAL", "cannot use write-ahead logging");
  execute(state_->db, "PRAGMA synchronous=FULL", "cannot write safely");
  execute(state_->db, kSchema, "cannot make its table");
}

ExampleLog::~ExampleLog() = default;

void ExampleLog::add(const Example& e) {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db,
              "INSERT INTO examples(id, model, question, answer, policy, confidence, milliseconds, "
              "budget, kept, native, allocation, picture) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  s.bind(e.id).bind(e.model).bind(e.question).bind(e.answer).bind(e.policy);
  s.bind(e.confidence).bind(e.milliseconds).bind(e.budget).bind(e.kept).bind(e.native);
  s.bind(e.allocation).bind(e.picture).step("cannot write an example");
}

bool ExampleLog::rate(const std::string& id, Rating rating, const std::string& comment) {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db, "UPDATE examples SET rating = ?, comment = ? WHERE id = ?");
  s.bind(std::string(to_string(rating))).bind(comment).bind(id).step("cannot write a rating");
  return sqlite3_changes(state_->db) > 0;
}

std::vector<Example> ExampleLog::list(int64_t limit, Rating rating) const {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db,
              std::string("SELECT ") + kColumns +
                  " FROM examples WHERE ? IN ('', rating) ORDER BY number DESC LIMIT ?");
  s.bind(std::string(to_string(rating))).bind(limit);
  std::vector<Example> out;
  while (s.step("cannot read")) out.push_back(row(s));
  return out;
}

Example ExampleLog::show(const std::string& id) const {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db, std::string("SELECT ") + kColumns + " FROM examples WHERE id = ?");
  if (!s.bind(id).step("cannot read"))
    throw Error(ErrorCode::not_found, "no example with the id '" + id + "' in the log");
  return row(s);
}

int64_t ExampleLog::count() const {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db, "SELECT count(*) FROM examples");
  s.step("cannot read");
  return s.number(0);
}

int64_t ExampleLog::forget(double days) {
  const std::scoped_lock lock(state_->mutex);
  Statement s(state_->db,
              "DELETE FROM examples WHERE time < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)");
  s.bind("-" + std::to_string(days) + " days").step("cannot delete old examples");
  return sqlite3_changes(state_->db);
}

}  // namespace arrcoc::serving
