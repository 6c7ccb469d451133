// arrcoc eval --metric gaze: do maps look where people look?
#include <iostream>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"
#include "lab/measure/gaze.h"

namespace arrcoc::cli {

namespace {

using measuring::Field;
using measuring::GazeItem;
using measuring::Interval;

// Asked about pictures that people looked at without a question.
constexpr const char* kOpenQuestion = "What is in the picture?";
constexpr double kCentre = 0.25;  // of the sides: standard deviation of the centred Gaussian
constexpr const char* kCentreRow = "centred Gaussian";

// Figures of one row, one each a picture and question.
struct Agreement {
  std::string name;
  std::vector<double> nss, auc, cc;
  std::vector<int> groups;

  void add(const Field& field, const GazeItem& item, int group) {
    groups.push_back(group);
    if (!item.fixations.empty()) {
      const Field looked = fixated(item);
      nss.push_back(measuring::nss(field, looked));
      auc.push_back(auc_judd(field, looked));
    } else {
      const Field looked = painted(item);
      nss.push_back(measuring::nss(field, looked));
      cc.push_back(correlation(field, looked));
    }
  }
};

// A figure that was taken of every item of the folder; one of some of them would be of others than
// its neighbour.
bool whole(const Agreement& a, const std::vector<double>& values) {
  return values.size() == a.groups.size();
}

std::string text(const Agreement& a, const std::vector<double>& values) {
  if (!whole(a, values)) return "-";
  const Interval i = measuring::bootstrap(values, a.groups);
  return fixed(i.mean, 3) + " (" + fixed(i.low, 2) + " to " + fixed(i.high, 2) + ")";
}

ordered_json to_json(const Agreement& a) {
  ordered_json out = {{"items", a.groups.size()}};
  const std::pair<const char*, const std::vector<double>*> figures[] = {
      {"nss", &a.nss}, {"auc_judd", &a.auc}, {"cc", &a.cc}};
  for (const auto& [name, values] : figures) {
    if (!whole(a, *values)) continue;
    const Interval i = measuring::bootstrap(*values, a.groups);
    out[name] = rounded(i.mean);
    out[std::string(name) + "_95"] = {rounded(i.low), rounded(i.high)};
  }
  return out;
}

std::vector<Agreement> agreements(const baselines::Askers& askers, const std::string& folder,
                                  int limit, const std::vector<EvalRow>& rows) {
  std::vector<GazeItem> items = measuring::load_gaze(folder);
  if (limit > 0 && items.size() > static_cast<size_t>(limit)) items.resize(limit);
  std::vector<Agreement> out;
  for (const EvalRow& row : rows) out.emplace_back().name = row.name;
  out.emplace_back().name = kCentreRow;
  std::map<std::string, int> pictures;
  Progress progress(folder, items.size());
  for (const GazeItem& item : items) {
    const int group =
        pictures.try_emplace(item.image, static_cast<int>(pictures.size())).first->second;
    const Picture picture = media::load(item.image);
    if (picture.width() != item.width || picture.height() != item.height)
      throw Error(ErrorCode::bad_image, item.image + " has another size than its line says");
    const std::string question = item.question.empty() ? kOpenQuestion : item.question;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Answer looked = askers.of(rows[i].options).look(picture, question, rows[i].options);
      out[i].add(measuring::field_of(looked.from().look.relevance.map, item.width, item.height),
                 item, group);
    }
    out.back().add(measuring::centred(item.width, item.height, kCentre), item, group);
    progress.step();
  }
  return out;
}

}  // namespace

void eval_gaze(const baselines::Askers& askers, const std::vector<std::string>& folders, int limit,
               const std::vector<EvalRow>& rows, bool json) {
  ordered_json all = ordered_json::object();
  std::vector<std::vector<std::string>> lines = {
      {"folder", "map", "items", "NSS (95 %)", "AUC-Judd (95 %)", "CC (95 %)"}};
  for (const std::string& folder : folders)
    for (const Agreement& a : agreements(askers, folder, limit, rows)) {
      all[folder][a.name] = to_json(a);
      lines.push_back({leaf_name(folder), a.name, std::to_string(a.groups.size()), text(a, a.nss),
                       text(a, a.auc), text(a, a.cc)});
    }
  if (json)
    std::cout << ordered_json({{"metric", "gaze"}, {"data", all}}).dump() << "\n";
  else
    std::cout << table(lines) << "against fixations (NSS, AUC-Judd) or against boxes that people "
              << "read with the question (NSS, CC)\n";
}

}  // namespace arrcoc::cli
