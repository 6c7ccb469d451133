#include "serve/savings.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "arrcoc/serve.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMostModels = 64;  // names come from clients; the rest is counted together
constexpr const char* kOthers = "(others)";

std::string cell(const json& line, const char* key) {
  return line.contains(key) ? line[key].dump() : "-";
}

std::string percent(const json& share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share.get<double>());
  return text;
}

// Names come from clients: nothing of them moves the cursor of a terminal.
std::string row(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t wide = i == 0 ? 32 : 11;
    std::string text = cells[i].substr(0, wide);
    for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    const std::string pad(wide - text.size(), ' ');
    out += i == 0 ? text + pad : " " + pad + text;
  }
  return out + "\n";
}

}  // namespace

std::optional<double> price_of(const std::vector<std::string>& prices, const std::string& model) {
  std::optional<double> out;
  for (const std::string& rule : prices) {
    const size_t equals = rule.rfind('=');
    double price = -1;
    if (equals != std::string::npos) {
      const char* end = rule.data() + rule.size();
      const auto read = std::from_chars(rule.data() + equals + 1, end, price);
      if (read.ec != std::errc() || read.ptr != end || !std::isfinite(price)) price = -1;
    }
    if (price < 0)
      throw Error(ErrorCode::bad_argument,
                  "price '" + rule + "' is not of the form PATTERN=DOLLARS (for a million tokens)");
    if (matches(rule.substr(0, equals), model)) out = price;
  }
  return out;
}

Savings::Savings(std::vector<std::string> prices, Metrics& metrics)
    : prices_(std::move(prices)), metrics_(metrics) {}

void Savings::add(const std::string& model, int64_t native, int64_t kept,
                  std::optional<int64_t> reported) {
  std::string name = model.empty() ? "(unnamed)" : model;
  {
    const std::scoped_lock lock(mutex_);
    if (sums_.size() >= kMostModels && !sums_.count(name)) name = kOthers;
    Sum& sum = sums_[name];
    ++sum.requests;
    sum.native += native;
    sum.kept += kept;
    sum.reported += reported.value_or(0);
  }
  metrics_.count("arrcoc_image_tokens_kept_total", "", static_cast<double>(kept));
  metrics_.count("arrcoc_image_tokens_native_total", "", static_cast<double>(native));
  const auto count = [&](const char* kind, int64_t tokens) {
    metrics_.count("arrcoc_model_image_tokens_total",
                   label("model", name) + "," + label("kind", kind), static_cast<double>(tokens));
  };
  count("native", native);
  count("kept", kept);
  if (reported) count("reported", *reported);
  if (const auto price = price_of(prices_, name); price && native > kept)
    metrics_.count("arrcoc_saved_dollars_total", label("model", name),
                   *price * 1e-6 * static_cast<double>(native - kept));
}

void Savings::expect(const std::string& model) {
  const std::scoped_lock lock(mutex_);
  sums_.try_emplace(model);
}

ordered_json Savings::line(const std::string& model, const Sum& sum) const {
  const int64_t saved = sum.native - sum.kept;
  ordered_json out = {{"model", model},
                      {"requests", sum.requests},
                      {"native_tokens", sum.native},
                      {"kept_tokens", sum.kept},
                      {"saved_tokens", saved}};
  if (sum.native > 0)
    out["saved_share"] = rounded(static_cast<double>(saved) / static_cast<double>(sum.native));
  if (sum.reported > 0) out["reported_tokens"] = sum.reported;
  if (const auto price = price_of(prices_, model)) {
    out["dollars_per_million"] = *price;
    out["saved_dollars"] = rounded(*price * 1e-6 * static_cast<double>(saved));
  }
  return out;
}

ordered_json Savings::report() const {
  const std::scoped_lock lock(mutex_);
  ordered_json models = ordered_json::array();
  Sum all;
  double dollars = 0;
  for (const auto& [model, sum] : sums_) {
    models.push_back(line(model, sum));
    dollars += models.back().value("saved_dollars", 0.0);
    all.requests += sum.requests;
    all.native += sum.native;
    all.kept += sum.kept;
    all.reported += sum.reported;
  }
  ordered_json total = line("", all);
  total.erase("model");
  total.erase("dollars_per_million");
  if (!prices_.empty()) total["saved_dollars"] = rounded(dollars);
  return {{"object", "arrcoc.savings"}, {"models", std::move(models)}, {"total", std::move(total)}};
}

std::string savings_table(const std::string& where, const std::string& key) {
  const Address address = parse_address(where);
  httplib::Client client(address.origin);
  client.set_connection_timeout(5);
  httplib::Headers headers;
  if (!key.empty()) headers.emplace("Authorization", "Bearer " + key);
  const auto reply = client.Get("/v1/savings", headers);
  if (!reply) throw Error(ErrorCode::io, "no server answers at " + address.origin);
  if (reply->status == 401)
    throw Error(ErrorCode::bad_argument,
                address.origin + " wants a key: give --api-key or --api-key-file");
  if (reply->status != 200)
    throw Error(ErrorCode::io,
                address.origin + " refuses with status " + std::to_string(reply->status));
  const json report = parse_json(reply->body, "the server's report");
  std::string out = row({"model", "requests", "native", "kept", "reported", "saved", "dollars"});
  json lines = report.at("models");
  lines.push_back(report.at("total"));
  for (const json& one : lines)
    out += row({one.value("model", "all"), cell(one, "requests"), cell(one, "native_tokens"),
                cell(one, "kept_tokens"), cell(one, "reported_tokens"),
                one.contains("saved_share") ? percent(one["saved_share"]) : "-",
                cell(one, "saved_dollars")});
  return out;
}

}  // namespace arrcoc::serving
