// The example log: SQLite in WAL mode, synchronous=FULL, so that what was acknowledged survives a
// crash of the process or the machine; secure_delete, so that what was deleted is gone.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

constexpr int kVersion = 1;
constexpr const char* kFresh = R"sql(
  CREATE TABLE examples(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    model TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, policy TEXT NOT NULL,
    confidence REAL NOT NULL, milliseconds REAL NOT NULL,
    budget INTEGER NOT NULL, kept INTEGER NOT NULL, native INTEGER NOT NULL,
    allocation TEXT NOT NULL, picture BLOB,
    rating TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '');
  CREATE INDEX examples_time ON examples(time);
)sql";
// From the log of arrcoc 0 (and kFresh) to kVersion.
constexpr const char* kUpgrade = R"sql(
  ALTER TABLE examples ADD COLUMN rater TEXT NOT NULL DEFAULT '';
  ALTER TABLE examples ADD COLUMN ratings INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX examples_unrated ON examples(number) WHERE rating = '';
  CREATE TABLE salt(value BLOB NOT NULL);
  INSERT INTO salt VALUES(randomblob(32));
  PRAGMA user_version = 1;
)sql";
constexpr const char* kColumns =
    "number, id, time, model, question, answer, policy, confidence, milliseconds, budget, kept, "
    "native, allocation, picture, rating, comment, rater";
constexpr int kOpeningMs = 5000;  // patience while it is opened
constexpr int kMostRatings = 10;  // of one answer
constexpr int kBatch = 16;        // examples deleted under one lock

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
  e.rater = s.text(16);
  return e;
}

void execute(sqlite3* db, const char* sql, const char* what) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db, what);
}

int64_t number(sqlite3* db, const char* sql) {
  Statement s(db, sql);
  return s.step("cannot read") ? s.number(0) : 0;
}

// All of it is written, or nothing.
class Transaction {
 public:
  explicit Transaction(sqlite3* db) : db_(db) { execute(db, "BEGIN IMMEDIATE", "cannot write"); }
  ~Transaction() {
    if (!done_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    execute(db_, "COMMIT", "cannot write");
    done_ = true;
  }

 private:
  sqlite3* db_;
  bool done_ = false;
};

// SQLite gives the files beside a log the mode of the log.
void make_private(const std::string& path) {
  struct stat now {};
  for (const char* end : {"", "-wal", "-shm"}) {
    const std::string file = path + end;
    if (::stat(file.c_str(), &now) == 0 && (now.st_mode & 077U) != 0 &&
        ::chmod(file.c_str(), 0600) != 0)
      throw Error(ErrorCode::io, "example log: others may read " + file +
                                     " and its mode cannot be changed: " + std::strerror(errno));
  }
}

void upgrade(sqlite3* db, const std::string& path) {
  if (number(db, "PRAGMA user_version") == kVersion) return;
  Transaction change(db);
  const int64_t version = number(db, "PRAGMA user_version");
  if (version > kVersion)
    throw Error(ErrorCode::unsupported, "example log: " + path + " is of a newer arrcoc");
  if (version == kVersion) return;
  if (number(db, "SELECT count(*) FROM sqlite_master WHERE name = 'examples'") == 0)
    execute(db, kFresh, "cannot make its table");
  execute(db, kUpgrade, "cannot bring its table up to date");
  change.commit();
}

}  // namespace

struct ExampleLog::State {
  sqlite3* db = nullptr;
  std::string path;
  LogLimits limits;
  std::timed_mutex mutex;
  bool deleted = false;  // since the journal was last emptied
  ~State() { sqlite3_close(db); }

  std::unique_lock<std::timed_mutex> lock() {
    std::unique_lock out(mutex, std::chrono::milliseconds(limits.patience_ms));
    if (!out) throw Error(ErrorCode::io, "example log: others are writing");
    return out;
  }
  int64_t bytes() const {
    return number(db,
                  "SELECT (page_count - freelist_count) * page_size FROM "
                  "pragma_page_count, pragma_freelist_count, pragma_page_size");
  }
  void empty_journal();
  void require_short_journal();
  void make_room(int64_t newest);
};

// What was deleted is in the journal still. A reader may be in the way: then the next time.
void ExampleLog::State::empty_journal() {
  deleted = number(db, "PRAGMA wal_checkpoint(TRUNCATE)") != 0;
}

void ExampleLog::State::require_short_journal() {
  const auto long_one = [this] {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path + "-wal", none);
    return !none && static_cast<double>(bytes) > limits.journal_megabytes * (1 << 20);
  };
  if (long_one()) empty_journal();
  if (long_one())
    throw Error(ErrorCode::io,
                "example log: somebody reads " + path + " and lets its journal grow");
}

// The oldest that nobody rated make room; when all are rated there is none.
void ExampleLog::State::make_room(int64_t newest) {
  while (limits.megabytes > 0 && static_cast<double>(bytes()) > limits.megabytes * (1 << 20)) {
    Statement s(db,
                "DELETE FROM examples WHERE number = (SELECT number FROM examples WHERE "
                "rating = '' AND number <> ? ORDER BY number LIMIT 1)");
    s.bind(newest).step("cannot delete old examples");
    if (sqlite3_changes(db) == 0)
      throw Error(ErrorCode::io, "example log: " + path + " is full of rated examples (log_mb)");
    deleted = true;
  }
}

ExampleLog::ExampleLog(const std::string& path, const LogLimits& limits)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.path = path;
  state.limits = limits;
  const int fresh = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fresh >= 0) ::close(fresh);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(path.c_str(), &state.db, flags, nullptr) != SQLITE_OK)
    fail(state.db, "cannot open " + path);
  sqlite3_busy_timeout(state.db, kOpeningMs);
  number(state.db, "PRAGMA schema_version");  // says when it is no log
  make_private(path);
  execute(state.db, "PRAGMA journal_mode=WAL", "cannot use write-ahead logging");
  execute(state.db,
          "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint=1000; "
          "PRAGMA journal_size_limit=4194304",
          "cannot write safely");
  upgrade(state.db, path);
  make_private(path);
  sqlite3_busy_timeout(state.db, limits.patience_ms);
}

ExampleLog::~ExampleLog() = default;

void ExampleLog::add(const Example& e) {
  const auto lock = state_->lock();
  state_->require_short_journal();
  Transaction all(state_->db);
  Statement s(state_->db,
              "INSERT INTO examples(id, model, question, answer, policy, confidence, milliseconds, "
              "budget, kept, native, allocation, picture) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  s.bind(e.id).bind(e.model).bind(e.question).bind(e.answer).bind(e.policy);
  s.bind(e.confidence).bind(e.milliseconds).bind(e.budget).bind(e.kept).bind(e.native);
  s.bind(e.allocation).bind(e.picture).step("cannot write an example");
  state_->make_room(sqlite3_last_insert_rowid(state_->db));
  all.commit();
}

ExampleLog::Rated ExampleLog::rate(const std::string& id, Rating rating, const std::string& comment,
                                   const std::string& rater) {
  const auto lock = state_->lock();
  state_->require_short_journal();
  Statement s(state_->db,
              "UPDATE examples SET rating = ?, comment = ?, rater = ?, ratings = ratings + 1 "
              "WHERE id = ? AND ratings < ?");
  s.bind(std::string(to_string(rating))).bind(comment).bind(rater).bind(id);
  s.bind(int64_t{kMostRatings}).step("cannot write a rating");
  if (sqlite3_changes(state_->db) > 0) return Rated::done;
  Statement known(state_->db, "SELECT 1 FROM examples WHERE id = ?");
  return known.bind(id).step("cannot read") ? Rated::too_often : Rated::unknown;
}

std::string ExampleLog::rater(const std::string& client) const {
  const auto lock = state_->lock();
  Statement s(state_->db, "SELECT value FROM salt");
  if (!s.step("cannot read")) fail(state_->db, "it has no salt");
  const std::vector<uint8_t> salt = s.blob(0);
  return to_hex(sha256(std::string(salt.begin(), salt.end()) + client)).substr(0, 16);
}

std::vector<Example> ExampleLog::list(int64_t limit, const ExampleFilter& filter) const {
  const auto lock = state_->lock();
  // Raters are hexadecimal: commas only stand between them.
  Statement s(state_->db, std::string("SELECT ") + kColumns +
                              " FROM examples WHERE ?1 IN ('', rating) AND ?2 IN ('', model) AND "
                              "(?3 = '' OR instr(',' || ?3 || ',', ',' || rater || ',') > 0) AND "
                              "instr(',' || ?4 || ',', ',' || rater || ',') = 0 "
                              "ORDER BY number DESC LIMIT ?5");
  s.bind(std::string(to_string(filter.rating))).bind(filter.model);
  s.bind(filter.raters).bind(filter.not_raters.empty() ? "-" : filter.not_raters).bind(limit);
  std::vector<Example> out;
  while (s.step("cannot read")) out.push_back(row(s));
  return out;
}

Example ExampleLog::show(const std::string& id) const {
  const auto lock = state_->lock();
  Statement s(state_->db, std::string("SELECT ") + kColumns + " FROM examples WHERE id = ?");
  if (!s.bind(id).step("cannot read"))
    throw Error(ErrorCode::not_found, "no example with the id '" + id + "' in the log");
  return row(s);
}

int64_t ExampleLog::count() const {
  const auto lock = state_->lock();
  return number(state_->db, "SELECT count(*) FROM examples");
}

int64_t ExampleLog::forget(double days) {
  int64_t gone = 0;
  for (bool more = true; more;) {
    const auto lock = state_->lock();  // writers get their turn between
    Statement s(state_->db,
                "DELETE FROM examples WHERE number IN (SELECT number FROM examples WHERE "
                "time < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?) LIMIT ?)");
    s.bind(std::to_string(-days) + " days").bind(int64_t{kBatch});
    s.step("cannot delete old examples");
    const int count = sqlite3_changes(state_->db);
    gone += count;
    more = count == kBatch;
    state_->deleted |= count > 0;
  }
  tidy();
  return gone;
}

void ExampleLog::tidy() {
  const auto lock = state_->lock();
  if (state_->deleted) state_->empty_journal();
}

}  // namespace arrcoc::serving
