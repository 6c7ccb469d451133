#include "lab/cli/predictions.h"

#include <filesystem>

#include "arrcoc/error.h"
#include "arrcoc/json.h"

namespace arrcoc::cli {

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ErrorCode::io, "cannot write " + path);
}

}  // namespace

PredictionFlags::PredictionFlags(CLI::App& app) {
  app.add_option("--predictions", file_, "write every answer as a line of JSON");
  app.add_flag("--details", details_, "with --predictions: leaves and maps too");
}

bool PredictionFlags::details() const {
  if (details_ && !given())
    throw Error(ErrorCode::bad_argument, "--details goes with --predictions FILE");
  return details_;
}

Predictions::Predictions(const PredictionFlags& flags)
    : path_(flags.file()), part_(path_ + ".part"), details_(flags.details()) {
  if (path_.empty()) return;
  out_.open(part_, std::ios::trunc);
  if (!out_) cannot_write(path_);
}

Predictions::Predictions(const PredictionFlags& flags, const std::string& journal, const Done& done)
    : path_(flags.file()), part_(journal), journal_(true), details_(flags.details()) {
  if (path_.empty()) return;
  require_writable(path_);
  std::string kept;
  std::ifstream in(journal, std::ios::binary);
  for (std::string line; std::getline(in, line) && !in.eof();) {  // the last may be cut off
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object()) break;
    const std::tuple<std::string, std::string, int> key{j.at("row"), j.at("suite"), j.at("group")};
    if (!std::apply(done, key)) continue;
    there_.insert(key);
    kept += line + "\n";
  }
  media::write_file(journal, std::vector<uint8_t>(kept.begin(), kept.end()));
  out_.open(journal, std::ios::app);
  if (!out_) cannot_write(journal);
}

bool Predictions::has(const std::string& row, const measuring::Group& group) const {
  return path_.empty() || there_.count({row, group.suite, group.number}) > 0;
}

measuring::Hearer Predictions::of(const std::string& row) {
  if (path_.empty()) return {};
  return
      [this, row](const measuring::Group& group, const measuring::Case& one, const Answer& answer) {
        ordered_json line = {{"suite", group.suite}, {"group", group.number},
                             {"row", row},           {"image", one.item.image},
                             {"id", one.item.id},    {"kind", one.item.kind}};
        line["wanted"] = one.item.answer ? ordered_json(*one.item.answer) : ordered_json();
        line["answer"] = to_json(answer, {details_});
        out_ << line.dump() << "\n";
        if (journal_) out_.flush();
        if (!out_) cannot_write(part_);
      };
}

void Predictions::keep() {
  if (path_.empty()) return;
  out_.close();
  if (!out_) cannot_write(path_);
  if (!journal_) {
    std::filesystem::rename(part_, path_);
    return;
  }
  std::filesystem::copy_file(part_, path_ + ".part",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(path_ + ".part", path_);
}

}  // namespace arrcoc::cli
