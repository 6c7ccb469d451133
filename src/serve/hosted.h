// A Hugging Face model in this process that answers instead of the bundled one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "models/hf/session.h"
#include "serve/engine.h"
#include "serve/schema.h"
#include "serve/telling.h"

namespace arrcoc::serving {

// One answer on its way.
class Talk : public Telling {
 public:
  const hf::Turn& turn() const { return turn_; }  // only after the end
  const std::string& text() const { return said_; }

 private:
  friend class Hosted;
  void hear(const std::string& piece);

  hf::Turn turn_;
  std::string said_;   // what clients have been told
  std::string blank_;  // white space that is not part of the answer unless more follows
};

class Hosted {
 public:
  // Reads the folder: slow. Error of hf::HfModel::open.
  explicit Hosted(const Options& options);

  const std::string& name() const { return name_; }  // of the folder
  // True when the realizer's maps are used.
  bool wants_maps() const { return relevance_ != "attention" && relevance_ != "clip"; }

  // Queues the conversation with the engine; pictures in the order of the request. maps: one a
  // picture, or none. Nobody listening ends it early.
  std::shared_ptr<Talk> start(Engine& engine, const ChatRequest& request,
                              const std::vector<SeenRef>& pictures, std::vector<Map> maps,
                              int budget, bool answer) const;

 private:
  struct Work;
  hf::AskOptions options_for(const ChatRequest& request, int budget) const;

  std::string name_, mode_, relevance_, policy_;
  int max_new_tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const hf::HfModel> model_;
  std::shared_ptr<const hf::TextImageModel> coupling_;
  std::shared_ptr<hf::FeatureCache> cache_;
};

}  // namespace arrcoc::serving
