// arrcoc eval --kinds FOLDER --data DIR...: what kind of text answers a question, on questions
// whose right answers are known.
#include <filesystem>
#include <iostream>

#include "arrcoc/error.h"
#include "lab/cli/eval.h"
#include "lab/fit/kinds_fit.h"

namespace arrcoc::cli {

void fit_kinds(const std::string& folder, const std::vector<std::string>& data, bool json) {
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorCode::not_found, "there is no folder '" + folder + "'");
  std::vector<fitting::AskedAndAnswered> pairs;
  for (const std::string& name : data)
    for (const measuring::Item& item : measuring::load_items(name))
      if (const auto right = measuring::right_answers(item); !right.empty() && !right[0].empty())
        pairs.push_back({item.question, right[0]});
  const tiny::KindTable table = fitting::fit_kinds(pairs);
  ordered_json out = ordered_json::parse(tiny::to_json(table));
  out["measured"] = {{"questions", pairs.size()}, {"words", table.rows.size() - 1}};
  const std::string path = (std::filesystem::path(folder) / "kinds.json").string();
  write_text(path, out.dump() + "\n");
  const ordered_json told = {
      {"file", path}, {"usual", out["usual"]}, {"measured", out["measured"]}};
  std::cout << (json ? told.dump() : told.dump(2)) << "\n";
}

}  // namespace arrcoc::cli
