// A conversation about pictures with a Hugging Face model that sees only the tokens each question
// needs.
//
//   hf::Session session(model, {picture}, options);
//   hf::Turn turn = session.ask("What is the total?");
//   hf::Turn next = session.ask("And the date?");   // features kept, tokens chosen anew
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/hf/hf.h"
#include "arrcoc/realize.h"

namespace arrcoc::hf {

struct AskOptions {
  std::string mode;  // native, prune, patches, zoom; "": zoom where the model allows it, else prune
  // Where the map of relevance comes from: realizer (the pipeline that `look` describes), clip
  // (`coupling`), attention (the language model's first layers), combined (all that are there).
  std::string relevance = "realizer";
  Options look;  // scorers, budget (of all pictures together) and settings of the allocators
  SelectOptions select;
  GenerateOptions generate;  // attention_layers {}: the second half of the layers
  std::shared_ptr<const TextImageModel> coupling;
  // The realizer's map of every picture where somebody made them already (relevance realizer,
  // combined); else empty.
  std::vector<Map> maps;
  std::shared_ptr<FeatureCache> cache;  // shared between sessions, or undefined: its own
};

// One picture in one turn.
struct Sighting {
  int64_t native_tokens = 0;  // what mode native would have spent on it
  Features features;          // what the language model got
  Map relevance;              // empty in mode native
  Allocation allocation;      // empty in mode native
  Map attention;              // where the last word of the prompt looked
};

struct Turn {
  std::string question;
  Answer answer;
  std::string mode;
  std::vector<Sighting> pictures;
  int64_t tokens = 0;         // visual ones, of all pictures
  int64_t native_tokens = 0;  // what mode native would have spent
  std::vector<Stage> stages;
};

class Session {
 public:
  // Error{bad_argument} for unknown names, Error{unsupported} with the reason where the model
  // cannot work in that mode.
  Session(std::shared_ptr<const HfModel> model, std::vector<Picture> pictures, AskOptions options);

  // Looks at the pictures for this question, answers, and remembers both.
  Turn ask(const std::string& question);
  // The same for a conversation that somebody else keeps: the last message is the question, and the
  // messages show all pictures of the session in order. Nothing is remembered.
  Turn ask(const std::vector<Message>& talk);
  // Looks without answering: tokens, and generation.prompt_tokens and visual_tokens of the answer.
  Turn look(const std::vector<Message>& talk);
  const std::string& mode() const { return options_.mode; }

 private:
  Features whole(const Picture& picture, int64_t max_tokens = 0) const;
  Map relevance(size_t index, const std::string& question) const;
  Map attention_map(const Picture& picture, const std::string& question) const;
  Sighting look(size_t index, const std::string& question) const;
  Turn look_at_all(const std::vector<Message>& talk) const;
  int64_t native_tokens(const Picture& picture) const;

  std::shared_ptr<const HfModel> model_;
  std::vector<Picture> pictures_;
  AskOptions options_;
  std::vector<Message> talk_;
};

}  // namespace arrcoc::hf
