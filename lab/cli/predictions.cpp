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
    : path_(flags.file()), details_(flags.details()) {
  if (path_.empty()) return;
  out_.open(path_ + ".part", std::ios::trunc);
  if (!out_) cannot_write(path_);
}

measuring::Hearer Predictions::of(const std::string& row) {
  if (path_.empty()) return {};
  return
      [this, row](const measuring::Group& group, const measuring::Case& one, const Answer& answer) {
        ordered_json line = {{"suite", group.suite},
                             {"row", row},
                             {"image", one.item.image},
                             {"id", one.item.id},
                             {"kind", one.item.kind}};
        line["wanted"] = one.item.answer ? ordered_json(*one.item.answer) : ordered_json();
        line["answer"] = to_json(answer, {details_});
        out_ << line.dump() << "\n";
        if (!out_) cannot_write(path_);
      };
}

void Predictions::keep() {
  if (path_.empty()) return;
  out_.close();
  if (!out_) cannot_write(path_);
  std::filesystem::rename(path_ + ".part", path_);
}

}  // namespace arrcoc::cli
