// arrcoc eval --ranges FOLDER [--data DIR...]: ranges of what the products of these weights read,
// for the fast kernels, over held-out scenes and pictures that training may see.
#include <iostream>

#include "lab/cli/eval.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {

void fit_ranges(const std::string& folder, const std::vector<std::string>& data, int questions,
                bool json) {
  std::vector<QuestionFolder> folders;  // what is wrong is said at once
  for (const std::string& name : data) folders.push_back(open_data(name, questions, 0));
  const auto fitted = load_bundle(folder, Kernels::reference);  // whatever its old ranges are
  const auto networks = tiny::TinyModel::load_watched(folder);
  const Asker asker(make_bundle(networks, fitted->calibration));
  int64_t asked = 0;
  const auto ask_all = [&](const measuring::GroupSource& next) {
    Progress progress("ranges", static_cast<size_t>(questions));
    for (auto group = next(); group; group = next())
      for (const measuring::Case& one : group->cases) {
        AskOptions options = policy("realized");
        // Few tokens are coarse and many are fine: both are met.
        options.budget = asked % 2 == 0 ? "100" : "300";
        asker.ask(group->picture, one.item.question, options);
        ++asked;
        progress.step();
      }
  };
  ask_all(measuring::held_out_groups(questions));
  for (const QuestionFolder& one : folders) ask_all(one.groups);
  networks->save_ranges(asked);
  const auto now = load_bundle(folder);
  const ordered_json out = {
      {"folder", folder}, {"questions", asked}, {"kernels", now->networks->kernels()}};
  std::cout << (json ? out.dump() : out.dump(2)) << "\n";
}

}  // namespace arrcoc::cli
