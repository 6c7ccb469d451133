#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>
#include <mutex>
#include <sstream>

#include "arrcoc/error.h"
#include "ask/batch.h"

namespace arrcoc::answering {

namespace {

namespace fs = std::filesystem;

constexpr size_t kPages = 4;                  // remembered
constexpr int64_t kLargestPage = 16'000'000;  // pixels; larger pictures are not kept
constexpr const char* kCalibration = "calibration.json";

}  // namespace

struct Answerer::Pages {
  std::mutex mutex;
  std::list<PageView> views;  // latest first

  PageView view(const Picture& picture, const Options& look) {
    {
      const std::scoped_lock lock(mutex);
      const auto found = std::find_if(views.begin(), views.end(), [&](const PageView& v) {
        return v.hash == picture.hash && v.frame_size == look.frame && v.canvas == look.canvas &&
               v.enlarge == look.enlarge;
      });
      if (found != views.end()) {
        views.splice(views.begin(), views, found);
        return *found;
      }
    }
    PageView made{picture.hash,
                  look.frame,
                  look.canvas,
                  look.enlarge,
                  frame_of(picture, look.frame),
                  std::make_shared<Pyramid>(pyramid_of(picture, look))};
    const Geometry& g = made.pyramid->geometry();
    if (static_cast<int64_t>(g.width) * g.height > kLargestPage) return made;
    const std::scoped_lock lock(mutex);
    views.push_front(made);
    if (views.size() > kPages) views.pop_back();
    return made;
  }
};

double Reply::milliseconds() const {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.milliseconds;
  return sum;
}

std::shared_ptr<const Answerer> Answerer::load(const std::string& folder) {
  const std::string known = tiny::installed_folder();
  const std::string from = !folder.empty() ? folder : !known.empty() ? known : tiny::find_model();
  if (from.empty())
    throw Error(ErrorCode::not_found,
                "the bundled model is not installed: set ARRCOC_MODELS to the folder that holds "
                "tiny/config.json");
  Calibration calibration;
  const fs::path fitted = fs::path(from) / kCalibration;
  if (std::ifstream in(fitted, std::ios::binary); in) {
    std::stringstream text;
    text << in.rdbuf();
    try {
      calibration = calibration_from_json(text.str());
    } catch (const Error& problem) {
      throw Error(problem.code(), fitted.string() + ": " + problem.what());
    }
  }
  // Strategies of the pipeline use the installed model: one copy of its weights is enough.
  const auto model = from == known ? tiny::installed() : tiny::TinyModel::load(from);
  return std::make_shared<Answerer>(model, calibration);
}

Answerer::Answerer(std::shared_ptr<const tiny::TinyModel> model, Calibration calibration)
    : model_(std::move(model)),
      calibration_(calibration),
      stale_(calibration.weights != 0 && calibration.weights != model_->fingerprint()),
      pages_(std::make_unique<Pages>()) {}
Answerer::~Answerer() = default;

std::vector<tiny::Opinion> Answerer::look(const Picture& picture,
                                          const std::vector<std::string>& questions,
                                          int frame) const {
  Options look;
  look.frame = frame;
  return model_->look(picture, pages_->view(picture, look).frame, questions);
}

Reply Answerer::ask(const Picture& picture, const std::string& question,
                    const AskOptions& options) const {
  return std::move(ask(picture, std::vector<Inquiry>{{question, {}, {}}}, options).front());
}

std::vector<Reply> Answerer::ask(const Picture& picture, const std::vector<Inquiry>& inquiries,
                                 const AskOptions& options) const {
  if (inquiries.empty()) return {};
  const double begun = now_ms();
  // Later passes may enlarge, so the pyramid offers it.
  Options cutting = options.look;
  cutting.enlarge = cutting.enlarge || (options.policy == "passes" && options.rules.enlarge);
  const PageView page = pages_->view(picture, cutting);
  std::vector<Reply> replies =
      run_batch(*model_, calibration_, picture, page, inquiries, options, begun);
  if (stale_)
    for (Reply& reply : replies) reply.fallbacks.emplace_back(kStaleCalibration);
  return replies;
}

}  // namespace arrcoc::answering
