#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

struct OptionFlags::State {
  std::string config, policy, usual;
  std::map<std::string, std::function<void(AskOptions&)>> set;  // by the field's name
  json file() const {
    if (config.empty()) return json::object();
    const std::vector<uint8_t> bytes = media::read_file(config, 1 << 20);
    try {
      json out =
          parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "options", 8);
      AskOptions checked;
      apply_json(checked, out);  // names and types, with the file's name in the message
      return out;
    } catch (const Error& e) {
      throw Error(e.code(), config + ": " + e.what());
    }
  }
};

namespace {

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

// Sets one field, found by its name, in whatever options come later.
template <class T>
std::function<void(AskOptions&)> setter(const std::string& key, const T& value) {
  return [key, value](AskOptions& options) {
    visit_fields(options, [&](const char* name, const char*, auto& field) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, T>)
        if (key == name) field = value;
    });
  };
}

}  // namespace

OptionFlags::OptionFlags(CLI::App& app, std::string usual) : state_(std::make_shared<State>()) {
  state_->usual = std::move(usual);
  app.add_option("--policy", state_->policy, "bundle of choices, see arrcoc info");
  app.add_option("--config", state_->config, "options as a JSON file; flags override it");
  AskOptions defaults;
  auto state = state_;
  visit_fields(defaults, [&](const char* name, const char* help, auto& field) {
    using T = std::decay_t<decltype(field)>;
    const std::string key = name;
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<T, bool>) {
      option = app.add_flag_callback(
          flag_name(key), [state, key] { state->set[key] = setter(key, true); }, help);
    } else if constexpr (NamedEnum<T>) {
      option = app.add_option_function<std::string>(
          flag_name(key),
          [state, key](const std::string& value) {
            state->set[key] = setter(key, parse_enum<T>(value));
          },
          help);
    } else {
      option = app.add_option_function<T>(
          flag_name(key), [state, key](const T& value) { state->set[key] = setter(key, value); },
          help);
    }
    option->group("Options of looking and allocating");
  });
}

std::string OptionFlags::policy() const {
  if (!state_->policy.empty()) return state_->policy;
  const json file = state_->file();
  return file.contains("policy") ? file["policy"].get<std::string>() : state_->usual;
}

AskOptions OptionFlags::options(const std::string& policy) const {
  AskOptions out = arrcoc::policy(policy);
  json file = state_->file();
  file.erase("policy");
  apply_json(out, file);
  for (const auto& [key, set] : state_->set) set(out);
  return out;
}

bool OptionFlags::given(const std::string& field) const {
  return state_->set.count(field) != 0 || state_->file().contains(field);
}

void OptionFlags::require_effect(const AskOptions& options) const {
  const LookOptions& look = options.look;
  const Balancer::Reads reads = registry<Balancer>().make(look.balancer)->reads(look.balance);
  const bool chooses = look.balancer == "adaptive" || look.balancer == "learned";
  const bool blind =
      look.information == "none" && look.salience == "none" && look.coupling == "none";
  const bool scorers = reads.information || reads.salience || look.coupling != kNetwork;
  const bool rgb = look.channels == ChannelSet::colour;
  const std::pair<const char*, bool> has_effect[] = {
      {"information", reads.information},
      {"salience", reads.salience},
      {"preset", look.balancer != "adaptive" && look.balancer != "importance"},
      {"sigmoid_weights", chooses},
      {"void_variance", reads.information && reads.salience},
      {"providers", scorers},
      {"channels", scorers || rgb}};
  for (const auto& [field, effect] : has_effect)
    if (given(field) && (!effect || blind))
      throw Error(ErrorCode::bad_argument, flag_name(field) + " changes nothing under policy " +
                                               options.policy + " with balancer " + look.balancer +
                                               ": see docs/look.md");
}

std::shared_ptr<const Bundle> bundle() {
  static const std::shared_ptr<const Bundle> loaded = load_bundle();
  return loaded;
}

std::shared_ptr<const Bundle> bundle_for(const AskOptions& options) {
  const auto& providers = options.look.providers;
  const bool needed = options.look.coupling == kNetwork || options.look.balancer == "learned" ||
                      std::count(providers.begin(), providers.end(), "network-print") > 0;
  return needed || !find_bundle().empty() ? bundle() : nullptr;
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> out(1);
  for (char c : list) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != ' ') {
      out.back() += c;
    }
  }
  for (const std::string& name : out) {
    if (name.empty()) throw Error(ErrorCode::bad_argument, "an empty name in '" + list + "'");
    if (std::count(out.begin(), out.end(), name) > 1)
      throw Error(ErrorCode::bad_argument, "'" + name + "' is named twice");
  }
  return out;
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

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
  app.add_flag_callback(
      "--decode-apart", [load] { load->apart = std::make_shared<media::Decoders>(); },
      "decode in a process that can do nothing else, for files of strangers");
  app.add_option("--page", load->page, "page of a PDF, from 1")->check(positive());
  return load;
}

void require_writable(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorCode::io, path + ": cannot write: " + std::strerror(errno));
}

std::string table(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (std::string& cell : row)
      std::replace_if(
          cell.begin(), cell.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
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

Progress::~Progress() { clear(); }

void Progress::clear() const {
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
