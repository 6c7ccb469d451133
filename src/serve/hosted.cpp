#include "serve/hosted.h"

#include <filesystem>

#include "arrcoc/error.h"
#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kBlank = " \n\r\t";

std::string folder_name(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::weakly_canonical(folder);
  return path.filename().string();
}

hf::Message message_of(const Turn& turn) {
  const bool orders = turn.role == "system" || turn.role == "developer";
  if (!orders && turn.role != "user" && turn.role != "assistant")
    throw ApiError(400, "unsupported", "messages of role '" + turn.role + "' are not supported");
  return {orders ? "system" : turn.role, turn.text, static_cast<int>(turn.pictures.size())};
}

}  // namespace

// Answers have no white space around them, streamed or not.
void Talk::hear(const std::string& piece) {
  std::string text = blank_ + piece;
  blank_.clear();
  if (said_.empty()) text.erase(0, std::min(text.find_first_not_of(kBlank), text.size()));
  const size_t end = text.find_last_not_of(kBlank) + 1;  // npos + 1 is 0
  blank_ = text.substr(end);
  text.resize(end);
  said_ += text;
  if (!text.empty()) add_text(text);
}

Hosted::Hosted(const Options& options)
    : name_(folder_name(options.model)),
      mode_(options.mode),
      relevance_(options.relevance),
      policy_(options.policy),
      max_new_tokens_(options.max_new_tokens),
      cache_(std::make_shared<hf::FeatureCache>(int64_t{options.cache_mb} << 20)) {
  const hf::LoadOptions where{options.device, options.dtype};
  tokenizer_ = load_tokenizer(options.model);
  model_ = hf::HfModel::open(options.model, where, tokenizer_);
  if (!options.relevance_model.empty())
    coupling_ = hf::TextImageModel::open(options.relevance_model, where,
                                         load_tokenizer(options.relevance_model));
  if (mode_ == "zoom" && !model_->zoom_refusal().empty())
    throw Error(ErrorCode::unsupported, model_->zoom_refusal());
}

hf::AskOptions Hosted::options_for(const ChatRequest& request, int budget) const {
  hf::AskOptions out;
  out.mode = mode_;
  out.relevance = relevance_;
  out.coupling = coupling_;
  out.cache = cache_;
  out.look = policy(request.extension.policy.empty() ? policy_ : request.extension.policy);
  out.look.budget = std::to_string(budget);
  out.generate = model_->defaults();
  if (max_new_tokens_ > 0) out.generate.max_new_tokens = max_new_tokens_;
  if (request.max_tokens > 0)
    out.generate.max_new_tokens =
        std::min<int64_t>(out.generate.max_new_tokens, request.max_tokens);
  if (request.temperature) out.generate.temperature = *request.temperature;
  if (request.top_p) out.generate.top_p = std::max(1e-6, *request.top_p);
  if (request.seed) out.generate.seed = static_cast<uint64_t>(*request.seed);
  return out;
}

struct Hosted::Work {
  std::vector<hf::Message> talk;
  std::vector<Picture> pictures;
  hf::AskOptions options;
  std::shared_ptr<std::atomic<int>> listeners = std::make_shared<std::atomic<int>>(1);
};

std::shared_ptr<Talk> Hosted::start(Engine& engine, const ChatRequest& request,
                                    const std::vector<SeenRef>& pictures, std::vector<Map> maps,
                                    int budget, bool answer) const {
  auto work = std::make_shared<Work>();
  for (const serving::Turn& turn : request.turns) work->talk.push_back(message_of(turn));
  if (work->talk.back().role != "user")
    throw ApiError(400, "invalid_request", "the last message must be the user's");
  for (const SeenRef& seen : pictures) work->pictures.push_back(seen->picture);
  work->options = options_for(request, budget);
  work->options.maps = std::move(maps);
  auto talk = std::make_shared<Talk>();
  engine.run([this, work, talk, answer] {
    TokenStream pieces(*tokenizer_);
    const auto wanted = [&] { return *work->listeners > 0; };
    try {
      if (!wanted()) return;
      work->options.generate.on_token = [&](int64_t id) {
        talk->hear(pieces.push(id));
        return wanted();
      };
      hf::Session session(model_, work->pictures, work->options);
      talk->turn_ = answer ? session.ask(work->talk) : session.look(work->talk);
      talk->hear(pieces.finish());
      talk->end(nullptr, talk->said_);
    } catch (...) {
      talk->end(std::current_exception(), "");
    }
  });
  // Ends with the client who holds it.
  return {talk.get(), [talk, listeners = work->listeners](Talk*) { --*listeners; }};
}

}  // namespace arrcoc::serving
