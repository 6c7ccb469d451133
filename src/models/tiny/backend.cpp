// The bundled model as a backend of the loop over passes.
#include "arrcoc/esper.h"
#include "models/tiny/tiny.h"

namespace arrcoc::esper {

namespace {

class TinyBackend : public Backend {
 public:
  explicit TinyBackend(std::shared_ptr<const tiny::TinyModel> model) : model_(std::move(model)) {}
  Reply answer(const TokenSequence& tokens, const Geometry& geometry,
               const std::string& question) const override {
    tiny::Answer read = model_->answer(tokens, geometry, question);
    return {std::move(read.text), std::move(read.probabilities), std::move(read.focus), {}};
  }

 private:
  std::shared_ptr<const tiny::TinyModel> model_;
};

}  // namespace

std::shared_ptr<const Backend> tiny_backend(std::shared_ptr<const tiny::TinyModel> model) {
  return std::make_shared<TinyBackend>(std::move(model));
}

}  // namespace arrcoc::esper
