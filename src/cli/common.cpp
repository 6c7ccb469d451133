#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arrcoc/error.h"
#include "ask/option_fields.h"
#include "cli/cli.h"

namespace arrcoc::cli {

using nlohmann::json;

struct OptionFlags::State {
  std::string config;
  std::string policy;
  std::string usual_policy;
  json overrides = json::object();
};

namespace {

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

}  // namespace

OptionFlags::OptionFlags(CLI::App& app) : OptionFlags(app, "") {}

OptionFlags::OptionFlags(CLI::App& app, const std::string& policy)
    : state_(std::make_shared<State>()) {
  state_->usual_policy = policy;
  app.add_option("--policy", state_->policy, "bundle of choices, see arrcoc info");
  app.add_option("--config", state_->config, "options as a JSON file; flags override it");
  Options defaults;
  auto state = state_;
  visit_fields(defaults, [&](const char* name, const char* help, auto& field) {
    using T = std::decay_t<decltype(field)>;
    const std::string key = name;
    if constexpr (std::is_same_v<T, bool>) {
      app.add_flag_callback(
             flag_name(key), [state, key] { state->overrides[key] = true; }, help)
          ->group("Pipeline");
    } else {
      app.add_option_function<T>(
             flag_name(key), [state, key](const T& value) { state->overrides[key] = value; }, help)
          ->group("Pipeline");
    }
  });
}

json OptionFlags::given() const {
  json merged = json::object();
  if (!state_->config.empty()) {
    const std::vector<uint8_t> bytes = media::read_file(state_->config, 1 << 20);
    const std::string text(bytes.begin(), bytes.end());
    try {
      options_from_json(text);  // names and types, with the file's name in the message
    } catch (const Error& e) {
      // A policy of another list (answering::policies()) is for the caller to find.
      if (e.code() != ErrorCode::not_found) {
        throw Error(e.code(), state_->config + ": " + e.what());
      }
    }
    merged = json::parse(text);
  }
  if (!state_->policy.empty()) merged["policy"] = state_->policy;
  if (!state_->usual_policy.empty() && !merged.contains("policy"))
    merged["policy"] = state_->usual_policy;
  merged.update(state_->overrides);
  return merged;
}

Options OptionFlags::options() const { return options_from_json(given().dump()); }

namespace {

CLI::Validator number_that(const std::string& what, const std::function<bool(double)>& good) {
  return {[=](std::string& text) -> std::string {
            double value = 0;
            if (!CLI::detail::lexical_cast(text, value)) return text + " is no number";
            return good(value) ? "" : text + " is not " + what;
          },
          what, what};
}

std::string short_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

CLI::Validator between(double low, double high) {
  return number_that("from " + short_text(low) + " to " + short_text(high),
                     [=](double v) { return v >= low && v <= high; });
}
CLI::Validator positive() {
  return number_that("more than 0", [](double v) { return v > 0 && std::isfinite(v); });
}
CLI::Validator at_least_zero() {
  return number_that("0 or more", [](double v) { return v >= 0 && std::isfinite(v); });
}

std::shared_ptr<media::LoadOptions> add_load_flags(CLI::App& app) {
  auto load = std::make_shared<media::LoadOptions>();
  app.add_option("--max-megapixels", load->max_megapixels, "larger pictures are refused")
      ->check(positive());
  app.add_option("--page", load->page, "page of a PDF, from 1")->check(positive());
  return load;
}

void require_writable(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorCode::io, path + ": cannot write: " + std::strerror(errno));
}

nlohmann::ordered_json to_json(const Map& map) {
  nlohmann::ordered_json out;
  out["rows"] = map.rows;
  out["cols"] = map.cols;
  auto values = nlohmann::ordered_json::array();
  for (float v : map.values) values.push_back(rounded(v));
  out["values"] = std::move(values);
  return out;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::ostringstream out;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string gap(width[i] - rows[r][i].size(), ' ');
      // The first column reads from the left, numbers from the right.
      out << (i == 0 ? rows[r][i] + gap : gap + rows[r][i]) << (i + 1 < rows[r].size() ? "  " : "");
    }
    out << "\n";
    if (r == 0) {
      for (size_t i = 0; i < width.size(); ++i) {
        out << std::string(width[i], '-') << (i + 1 < width.size() ? "  " : "");
      }
      out << "\n";
    }
  }
  return out.str();
}

namespace {
constexpr double kSecondsBetweenLines = 30;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

Progress::Progress(std::string what, size_t total)
    : what_(std::move(what)),
      total_(total),
      start_(now()),
      said_(start_),
      shown_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

void Progress::skip(size_t by) { total_ -= std::min(total_, by); }

// A terminal sees every step, a log file a line now and then.
void Progress::step(size_t by) {
  done_ = std::min(done_ + by, total_);
  const double at = now(), seconds = std::max(1e-3, at - start_);
  if (!shown_ && at - said_ < kSecondsBetweenLines) return;
  said_ = at;
  const double rate = std::max(1e-9, static_cast<double>(done_) / seconds);
  std::fprintf(stderr, "%s%s %zu/%zu  %.1f/s  %.0f s left%s", shown_ ? "\r\033[K" : "",
               what_.c_str(), done_, total_, rate, static_cast<double>(total_ - done_) / rate,
               shown_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace arrcoc::cli
