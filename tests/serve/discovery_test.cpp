// What upstreams tell about how they count.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "arrcoc/error.h"
#include "folder.h"
#include "serve/upstream.h"

namespace arrcoc::serving::test {
namespace {

using Replies = std::map<std::string, std::string>;

// A server that has these paths and nothing else.
class Teller {
 public:
  explicit Teller(const Replies& replies) {
    for (const auto& [path, text] : replies) {
      const auto answer = [this, text = text](const httplib::Request&,
                                              httplib::Response& response) {
        ++asked_;
        if (text == "silence") std::this_thread::sleep_for(std::chrono::seconds(3));
        response.set_content(text, "application/json");
      };
      server_.Get(path, answer);
      server_.Post(path, answer);
    }
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Teller() {
    server_.stop();
    thread_.join();
  }
  Options options() const {
    Options out;
    out.upstream = "http://127.0.0.1:" + std::to_string(port_);
    return out;
  }
  int asked() const { return asked_; }

 private:
  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::atomic<int> asked_ = 0;
};

Family told(const Options& options, const std::string& model) {
  Metrics metrics;
  return Upstream(options, metrics).family(model);
}

constexpr const char* kVllm =
    R"({"object":"list","data":[{"id":"house","owned_by":"vllm","root":"Qwen/Qwen3-VL-8B-Instruct"},
        {"id":"odd","owned_by":"vllm","root":7}, {"id":"plain","owned_by":"vllm"}, 3]})";

TEST(Discovery, TheRootOfAnAliasGivesTheFamily) {
  const Teller vllm(Replies{{"/v1/models", kVllm}});
  Metrics metrics;
  const Upstream upstream(vllm.options(), metrics);
  EXPECT_EQ(upstream.family("house").name, "qwen3-vl");
  EXPECT_FALSE(upstream.family("house").estimated);
  EXPECT_FALSE(upstream.family("house").llama_cpp);
  EXPECT_EQ(upstream.family("odd").name, "unknown");
  EXPECT_EQ(upstream.family("gone").name, "unknown");
  EXPECT_EQ(vllm.asked(), 1) << "and it is asked once";
}

TEST(Discovery, LlamaServerCountsByItsOwnBounds) {
  const Teller server(
      Replies{{"/v1/models", R"({"data":[{"id":"gpt-local","owned_by":"llamacpp"}]})"},
              {"/props", R"({"model_path":"/m/Qwen3-VL-4B-Q4_K_M.gguf","total_slots":4})"}});
  const Family family = told(server.options(), "local");
  EXPECT_EQ(family.name, "qwen3-vl");
  EXPECT_TRUE(family.llama_cpp);
  EXPECT_EQ(picture_tokens(family, 100, 100), 9);  // at least 8, not 64
  EXPECT_EQ(picture_tokens(family, 8000, 6000), 73 * 55);
}

TEST(Discovery, OllamaGivesQwenVlAtLeast1024TokensButNotQwen35) {
  const Replies replies = {
      {"/v1/models", R"({"data":[{"id":"qwen3-vl:8b","owned_by":"library"}]})"},
      {"/api/version", R"({"version":"0.31.2"})"},
      {"/api/show", R"({"model_info":{"general.architecture":"qwen25vl"}})"}};
  const Teller ollama(replies);
  Metrics metrics;
  const Upstream upstream(ollama.options(), metrics);
  EXPECT_EQ(picture_tokens(upstream.family("qwen3-vl:8b"), 256, 256), 1024);
  EXPECT_EQ(upstream.family("mine").name, "qwen2-vl") << "by its architecture";
  EXPECT_EQ(upstream.family("mine").limits.min_tokens, 1024);
  EXPECT_EQ(upstream.family("qwen3.5:9b").limits.min_tokens, 0);
  EXPECT_TRUE(upstream.family("qwen3.5:9b").llama_cpp);
  const int asked = ollama.asked();
  upstream.family("mine");
  EXPECT_EQ(ollama.asked(), asked);

  auto older = replies;  // resized pictures itself
  older["/api/version"] = R"({"version":"0.12.6"})";
  const Teller before(older);
  EXPECT_EQ(told(before.options(), "qwen3-vl:8b").limits.min_tokens, 0);
}

TEST(Discovery, NothingThatIsToldOrNotMakesItFail) {
  const std::string deep(100000, '['), large(3 << 20, ' ');
  for (const std::string& text : {std::string("nonsense"), std::string("[]"), deep, large + "{}",
                                  std::string(R"({"data":{"id":1},"model_path":{}})")}) {
    const Teller odd(Replies{{"/v1/models", text}, {"/props", text}, {"/api/version", text}});
    const Family family = told(odd.options(), "qwen3-vl");
    EXPECT_EQ(family.name, "qwen3-vl");
    EXPECT_FALSE(family.llama_cpp);
  }
  Options away;
  away.upstream = "http://127.0.0.1:1";
  EXPECT_EQ(told(away, "qwen3-vl").name, "qwen3-vl");
}

TEST(Discovery, ASilentUpstreamCostsTwoSecondsOnce) {
  const Teller silent(Replies{{"/v1/models", "silence"}});
  Metrics metrics;
  const Upstream upstream(silent.options(), metrics);
  const auto start = Clock::now();
  EXPECT_EQ(upstream.family("qwen3-vl").name, "qwen3-vl");
  EXPECT_EQ(upstream.family("qwen3-vl").name, "qwen3-vl");
  EXPECT_EQ(silent.asked(), 1);
  EXPECT_LT(seconds_since(start), 30);
}

TEST(Discovery, PaidApisAreNotAsked) {
  const Teller nobody(Replies{{"/v1/models", kVllm}});
  EXPECT_EQ(told(nobody.options(), "gpt-4o").name, "gpt-4o");
  EXPECT_EQ(nobody.asked(), 0);
}

TEST(Discovery, OptionsWinOverWhatIsTold) {
  const Teller vllm(Replies{{"/v1/models", kVllm}});
  const arrcoc::test::Folder folder;
  Options options = vllm.options();
  options.upstream_processor = folder / "preprocessor_config.json";
  std::ofstream(options.upstream_processor)
      << R"({"patch_size":16,"merge_size":2,"size":{"shortest_edge":4096,"longest_edge":1048576}})";
  EXPECT_EQ(picture_tokens(told(options, "house"), 64, 64), 4);
  EXPECT_EQ(told(options, "gpt-4o").name, "gpt-4o") << "another model has no use for it";
  EXPECT_EQ(picture_tokens(told(options, "house"), 8000, 6000), 36 * 27);
  check(options);
  options.upstream_image_min_tokens = 256;
  EXPECT_EQ(picture_tokens(told(options, "house"), 64, 64), 256);
  options.upstream_image_max_tokens = 128;
  EXPECT_THROW(check(options), Error);
  options.upstream_image_max_tokens = 0;
  options.upstream_family = "gemma3";
  EXPECT_EQ(told(options, "house").name, "gemma3");
  options.upstream_processor = folder / "none.json";
  EXPECT_THROW(check(options), Error);
}

}  // namespace
}  // namespace arrcoc::serving::test
