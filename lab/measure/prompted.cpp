#include "lab/measure/prompted.h"

#include <vector>

#include "arrcoc/look.h"

namespace arrcoc::measuring {

namespace {

thread_local std::string said;

class Prompted : public Model {
 public:
  explicit Prompted(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  std::string name() const override { return model_->name(); }
  Capabilities capabilities() const override { return model_->capabilities(); }
  int64_t view_tokens(int width, int height) const override {
    return model_->view_tokens(width, height);
  }
  void read(std::span<const Reading> readings, Sink& sink) const override {
    if (said.empty()) return model_->read(readings, sink);
    std::vector<Reading> all(readings.begin(), readings.end());
    for (Reading& reading : all) reading.question += said;
    model_->read(all, sink);
  }
  std::vector<int64_t> tokenize(std::string_view text, bool special) const override {
    return model_->tokenize(text, special);
  }
  std::shared_ptr<const Looker> looker() const override { return model_->looker(); }

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace

std::shared_ptr<const Model> prompted(std::shared_ptr<const Model> model) {
  return std::make_shared<Prompted>(std::move(model));
}

Saying::Saying(const std::string& after) { said = after; }
Saying::~Saying() { said.clear(); }

}  // namespace arrcoc::measuring
