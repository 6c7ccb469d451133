// Commands of the lab that a build without OpenCV has not.
#include "arrcoc/error.h"
#include "lab/cli/lab.h"

namespace arrcoc::cli {

namespace {

void absent(CLI::App& app, const std::string& name, const std::string& instead) {
  CLI::App* sub = app.add_subcommand(name, "not in this build (OpenCV)");
  sub->allow_extras();
  sub->callback([name, instead] {
    throw Error(ErrorCode::unsupported,
                "'" + name + "' is not in this build, which was made without OpenCV" + instead);
  });
}

}  // namespace

void add_synth(CLI::App& app) { absent(app, "synth", ""); }
void add_label(CLI::App& app) { absent(app, "label", ""); }
void add_train(CLI::App& app) { absent(app, "train", ": arrcoc_train trains"); }

}  // namespace arrcoc::cli
