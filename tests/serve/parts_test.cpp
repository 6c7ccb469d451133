// The parts of the server that need no server.
#include <ATen/ATen.h>

#include <map>

#include "arrcoc/error.h"
#include "serve/api_error.h"
#include "serve/images.h"
#include "serve/metrics.h"
#include "serve/picture_cache.h"
#include "serve/relay/hearing.h"
#include "serve/replies.h"
#include "serve/schema.h"
#include "serve/upstream.h"
#include "serve/workers.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

TEST(Encoding, Base64ComesBackAtEveryLength) {
  for (size_t n = 0; n < 70; ++n) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < n; ++i) bytes.push_back(static_cast<uint8_t>(i * 37 + n));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes) << n;
  }
  EXPECT_EQ(to_base64({'M', 'a'}), "TWE=");
  EXPECT_EQ(from_base64("TWE"), (std::vector<uint8_t>{'M', 'a'}));
}

TEST(Encoding, BrokenBase64IsRefused) {
  for (const char* bad : {"A", "AAAAA", "AA A", "A\nAA", "=AAA", "A=AA", "\xc3\xa4"})
    EXPECT_THROW(from_base64(bad), Error) << bad;
}

TEST(Encoding, OnlyPictureUrlsAreTaken) {
  EXPECT_EQ(data_url_bytes("data:image/png;base64,TWE="), (std::vector<uint8_t>{'M', 'a'}));
  for (const char* bad : {"data:text/html;base64,TWE=", "data:image/png,TWE=", "data:",
                          "image/png;base64,TWE=", "data:image/png;base64"})
    EXPECT_THROW(data_url_bytes(bad), Error) << bad;
}

TEST(Encoding, SecretsAreEqualOnlyWhenTheyAre) {
  EXPECT_TRUE(equal_secret("abc", "abc"));
  EXPECT_FALSE(equal_secret("abc", "abd"));
  EXPECT_FALSE(equal_secret("abc", "abcd"));
  EXPECT_FALSE(equal_secret("", "abc"));
  EXPECT_NE(random_id("x-"), random_id("x-"));
}

Options options_from(const std::string& text) {
  Options out;
  apply_json(out, text);
  return out;
}

TEST(ServeOptions, FileEnvironmentAndNamesAgree) {
  Options options =
      options_from(R"({"port": 9, "upstream_budgets": ["a*=64"], "batching": false})");
  EXPECT_EQ(options.port, 9);
  EXPECT_FALSE(options.batching);
  const std::map<std::string, std::string> environment = {
      {"ARRCOC_SERVE_PORT", "77"},
      {"ARRCOC_SERVE_API_KEY", "k"},
      {"ARRCOC_SERVE_UPSTREAM_BUDGETS", "x=1,y=2"},
      {"ARRCOC_SERVE_LOG_SHARE", "0.5"},
      {"ARRCOC_SERVE_BATCHING", "true"},
      {"ARRCOC_SERVE_MODE", "prune"},
      {"ARRCOC_SERVE_THRESHOLD", "0.25"}};
  const auto get = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  apply_environment(options, get);
  EXPECT_EQ(options.port, 77);
  EXPECT_TRUE(options.batching);
  EXPECT_DOUBLE_EQ(options.log_share, 0.5);
  EXPECT_EQ(options.mode, ReadMode::prune);
  EXPECT_EQ(options.threshold, 0.25);
  EXPECT_EQ(options.upstream_budgets, (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_EQ(to_json(options).find("\"k\""), std::string::npos) << "keys are never shown";
  Options again = options_from(to_json(options));
  EXPECT_EQ(to_json(again), to_json(options)) << "what is shown can be given";
  EXPECT_THROW(apply_environment(options,
                                 [](const char* name) {
                                   return std::string(name) == "ARRCOC_SERVE_PORT" ? "many"
                                                                                   : nullptr;
                                 }),
               Error);
}

TEST(ServeOptions, BytesOfTheEnvironmentThatAreNoTextCanBeShown) {
  Options options;
  apply_environment(options, [](const char* name) {
    return std::string(name) == "ARRCOC_SERVE_LOG" ? "caf\xe9.db" : nullptr;
  });
  EXPECT_EQ(options.log, "caf\xe9.db");
  EXPECT_EQ(options_from(to_json(options)).log, "caf\xef\xbf\xbd.db");
}

TEST(JsonText, AByteOrderMarkStaysWhereItIs) {
  EXPECT_EQ(
      edited("\xef\xbb\xbf{\"a\":1}", {{json::json_pointer("/a"), JsonEdit::How::replace, "2"}}),
      "\xef\xbb\xbf{\"a\":2}");
}

TEST(Hearing, LinesAreTheSameHoweverTheyCome) {
  const std::string stream = "data: {\"a\":1}\r\n\r\n: keep-alive\n\ndata: [DONE]";
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    Hearing hearing(*dialect_at("/v1/chat/completions"));
    std::vector<std::string> lines;
    for (size_t at = 0; at < stream.size(); at += piece)
      hearing.feed(stream.substr(at, piece), at + piece >= stream.size(), lines);
    EXPECT_EQ(lines, (std::vector<std::string>{"data: {\"a\":1}\r", "\r", ": keep-alive", "",
                                               "data: [DONE]"}));
  }
}

TEST(Hearing, AnUpstreamsNumbersAndObjectsAreTakenForWhatTheyCanBe) {
  const std::string most = std::to_string(INT64_MAX);
  Hearing claude(*dialect_at("/v1/messages"));
  claude.line(R"(data: {"usage":{"input_tokens":7,"cache_creation_input_tokens":)" + most +
              R"(,"cache_read_input_tokens":)" + most + "}}");
  EXPECT_EQ(claude.heard().prompt_tokens, 7);
  EXPECT_EQ(claude.heard().cached_tokens, 0)
      << "no count is that large, and sums must not overflow";
  const Dialect& responses = *dialect_at("/v1/responses");
  json data = {{"type", "response.completed"}, {"response", "words"}};
  EXPECT_EQ(responses.extended(data, true, false), nullptr) << "nothing can be added to words";
}

TEST(ServeOptions, ImpossibleOnesAreRefused) {
  EXPECT_THROW(options_from(R"({"prot": 1})"), Error);
  EXPECT_THROW(options_from(R"({"port": "1"})"), Error);
  EXPECT_THROW(options_from(R"([])"), Error);
  try {
    check(options_from(R"({"port": 70000})"));
    ADD_FAILURE() << "there is no such port";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "option 'port' must be 0 to 65535");
  }
  for (const char* bad : {R"({"port": 70000})", R"({"policy": "none such"})", R"({"log_share": 2})",
                          R"({"upstream_family": "x"})", R"({"upstream_budgets": ["x"]})",
                          R"({"queue": 0})", R"({"budget": "plenty"})", R"({"budget": ""})",
                          R"({"mode": "native"})", R"({"mode": "fast"})", R"({"threshold": 2})",
                          R"({"relevance": "clip"})", R"({"model": "x", "upstream": "y"})"})
    EXPECT_THROW(check(options_from(bad)), Error) << bad;
}

TEST(Schema, MistakesAreNamed) {
  const auto refusal = [](const json& request) -> std::string {
    try {
      parse_chat(request);
    } catch (const ApiError& e) {
      EXPECT_EQ(e.status(), 400);
      return e.what();
    }
    return "accepted";
  };
  const json good = question("What?", "data:,");
  EXPECT_EQ(refusal(good), "accepted");
  const auto with = [&](const char* pointer, const json& value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = value;
    return refusal(changed);
  };
  EXPECT_EQ(refusal(json::array()), "the request must be a JSON object");
  EXPECT_EQ(refusal(json::object()), "'messages' is missing");
  EXPECT_NE(with("/messages", json::array()).find("'messages'"), std::string::npos);
  EXPECT_NE(with("/messages/0/role", "king").find("'role'"), std::string::npos);
  EXPECT_NE(with("/messages/0/content", 7).find("'content'"), std::string::npos);
  EXPECT_NE(with("/messages/0/content/0/type", "video").find("video"), std::string::npos);
  EXPECT_NE(with("/messages/0/content/0/image_url", 7).find("'image_url'"), std::string::npos);
  EXPECT_NE(with("/stream", "yes").find("'stream'"), std::string::npos);
  EXPECT_NE(with("/n", 2).find("'n'"), std::string::npos);
  EXPECT_NE(with("/max_tokens", 0).find("'max_tokens'"), std::string::npos);
  EXPECT_NE(with("/arrcoc/budget", 0).find("arrcoc.budget"), std::string::npos);
  EXPECT_NE(with("/arrcoc/budget", 1e300).find("arrcoc.budget"), std::string::npos);
  EXPECT_NE(with("/arrcoc/colour", 1).find("arrcoc.colour"), std::string::npos);
  EXPECT_NE(with("/arrcoc/passes", 99).find("arrcoc.passes"), std::string::npos);
  EXPECT_NE(with("/arrcoc/total_budget", 0).find("arrcoc.total_budget"), std::string::npos);
}

TEST(Images, FilesStayBelowTheirFolder) {
  Folder folder;
  std::filesystem::create_directories(folder / "allowed/in");
  std::ofstream(folder / "allowed/in/a b.txt") << "inside";
  std::ofstream(folder / "secret.txt") << "outside";
  std::filesystem::create_symlink(folder / "secret.txt", folder / "allowed/link.txt");
  std::filesystem::create_directories(folder / "allowed-too");
  std::ofstream(folder / "allowed-too/b.txt") << "outside";
  Options options;
  EXPECT_THROW(picture_bytes("file://" + (folder / "allowed/in/a b.txt"), options), ApiError);
  options.file_root = {folder / "allowed"};
  EXPECT_EQ(picture_bytes("file://" + (folder / "allowed/in/a%20b.txt"), options).size(), 6U);
  const std::vector<std::string> outside = {"secret.txt",        "allowed/../secret.txt",
                                            "allowed/link.txt",  "allowed/%2e%2e/secret.txt",
                                            "allowed-too/b.txt", "allowed",
                                            "allowed/none.txt"};
  std::string words;
  for (const std::string& path : outside) {
    try {
      picture_bytes("file://" + (folder / path), options);
      ADD_FAILURE() << path;
    } catch (const ApiError& e) {
      EXPECT_EQ(e.status(), 400);
      if (words.empty()) words = e.what();
      EXPECT_EQ(words, e.what()) << "the refusal must not tell what exists";
    }
  }
  for (const char* bad :
       {"file:///dev/zero", "file://relative", "file:///a%00b", "file:///a%zz",
        "http://127.0.0.1/x", "https://example.org/x", "ftp://x", "/etc/passwd", ""})
    EXPECT_THROW(picture_bytes(bad, options), ApiError) << bad;
}

TEST(Families, CountAsTheirModelsDo) {
  const auto tokens = [](const char* model, int w, int h) {
    return picture_tokens(family_of(model), w, h);
  };
  EXPECT_EQ(tokens("Qwen/Qwen2.5-VL-7B-Instruct", 1092, 812), 39 * 29);
  EXPECT_EQ(tokens("Qwen/Qwen3-VL-8B", 1024, 768), 32 * 24);
  EXPECT_EQ(tokens("llava-hf/llava-1.5-7b-hf", 50, 4000), 576);
  EXPECT_EQ(tokens("gpt-4o-2024-08-06", 1024, 1024), 85 + 170 * 4);
  EXPECT_EQ(tokens("google/gemma-3-12b-it", 2000, 100), 256 + 4);
  EXPECT_EQ(tokens("arrcoc-tiny", 1024, 1024), 4096);
  EXPECT_TRUE(family_of("something/else").estimated);
  EXPECT_EQ(family_of("something/else").name, "unknown");
  EXPECT_THROW(family_named("none"), Error);
  for (const Family& family : families()) EXPECT_GT(picture_tokens(family, 1, 1), 0) << family.name;
}

TEST(UpstreamParts, AddressesAndPatterns) {
  EXPECT_EQ(parse_address("http://host:80").base, "/v1");
  EXPECT_EQ(parse_address("https://host/api/v1/").base, "/api/v1");
  EXPECT_EQ(parse_address("https://host/api").origin, "https://host");
  for (const char* bad :
       {"host", "ftp://host", "http://", "http://a b", "http://u:p@h", "http://h/?x"})
    EXPECT_THROW(parse_address(bad), Error) << bad;
  EXPECT_TRUE(matches("qwen*", "qwen2"));
  EXPECT_TRUE(matches("*vl*", "a-vl-b"));
  EXPECT_FALSE(matches("qwen", "qwen2"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "abbbxbc"));
  EXPECT_FALSE(matches("a*b*c", "abbbxb"));
  EXPECT_FALSE(matches("*a*a*a*a*a*b", std::string(200, 'a')));
}

TEST(PictureCacheTest, KeysTellPicturesAndWaysOfSeeingApart) {
  PictureCache cache(int64_t{1} << 30);
  const auto looker = given_map({});
  const Picture picture = make_picture(at::zeros({3, 20, 20}, at::kByte));
  const auto put = [&](const PictureKey& key) {
    std::promise<SeenRef> promise;
    const auto found = cache.find(key, promise);
    if (found.fresh) cache.settle(key, promise, see(picture, looker, {}), nullptr);
    return std::pair{found.fresh, found.seen.get()};
  };
  const auto [fresh, first] = put({"a", looker.get(), 0, false});
  EXPECT_TRUE(fresh);
  EXPECT_FALSE(put({"a", looker.get(), 0, false}).first);
  for (const PictureKey& other : {PictureKey{"b", looker.get(), 0, false},
                                  {"a", nullptr, 0, false},
                                  {"a", looker.get(), 100, false},
                                  {"a", looker.get(), 0, true}})
    EXPECT_TRUE(put(other).first);
  EXPECT_EQ(cache.bytes(), 5 * first->bytes());
  EXPECT_EQ(cache.like({"c", looker.get(), 0, false}), nullptr);
  EXPECT_NE(cache.like({"b", nullptr, 7, true}), nullptr) << "the same bytes, seen otherwise";
}

TEST(MetricsText, IsWhatPrometheusReads) {
  Metrics metrics;
  metrics.count("arrcoc_requests_total", label("path", "/a\"b\\\n"));
  metrics.observe("arrcoc_stage_seconds", 0.02, label("stage", "x"));
  metrics.observe("arrcoc_stage_seconds", 1000, label("stage", "x"));
  const std::string text = metrics.text();
  EXPECT_NE(text.find("arrcoc_requests_total{path=\"/a\\\"b\\\\ \"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("arrcoc_stage_seconds_bucket{stage=\"x\",le=\"0.025\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("arrcoc_stage_seconds_bucket{stage=\"x\",le=\"+Inf\"} 2\n"),
            std::string::npos);
  EXPECT_NE(text.find("arrcoc_stage_seconds_count{stage=\"x\"} 2\n"), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.rfind("# HELP ", 0) == 0 || line.rfind("# TYPE ", 0) == 0 ||
                line.rfind("arrcoc_", 0) == 0)
        << line;
}

TEST(DriftOfTheAdapter, ShowsWhenTheAverageMoves) {
  Drift drift;
  for (int i = 0; i < 200; ++i) drift.add(0.5 + 0.01 * (i % 2 ? 1 : -1), 0.1);
  EXPECT_LT(drift.shift(), 1);
  for (int i = 0; i < 200; ++i) drift.add(0.7, 0.2);
  EXPECT_GT(drift.shift(), 5);
  EXPECT_NEAR(drift.deviation(), 0.2, 0.01);
}

TEST(Replies, TextIsCutBetweenCharacters) {
  bool cut = false;
  EXPECT_EQ(first_characters("a\xc3\xa4\xe2\x82\xac"
                             "b",
                             3, cut),
            "a\xc3\xa4\xe2\x82\xac");
  EXPECT_TRUE(cut);
  EXPECT_EQ(first_characters("abc", 3, cut), "abc");
  EXPECT_FALSE(cut);
  EXPECT_EQ(first_characters("abc", 0, cut), "abc");
}

TEST(WorkersQueue, BatchesByTokensAndNeverLoses) {
  std::mutex mutex;
  std::vector<std::vector<int>> batches;
  std::promise<void> blocked, go;
  {
    Workers<int> workers(1, 100, [&](std::vector<int> batch) {
      const std::scoped_lock lock(mutex);
      batches.push_back(std::move(batch));
    });
    workers.add([&] {
      blocked.set_value();
      go.get_future().wait();
    });
    blocked.get_future().wait();
    for (int i = 0; i < 5; ++i) workers.add_batchable(i, i == 2 ? 60 : 30);
    workers.add_batchable(5, 20);
    EXPECT_EQ(workers.waiting(), 6U);
    go.set_value();
  }
  // 0, 1 and 3 pad to 30 each (90 tokens); 2 would pad all to 60; 4 is a fourth one; 5 would be
  // padded by half with 4.
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0], (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(batches[1], (std::vector<int>{2}));
  EXPECT_EQ(batches[2], (std::vector<int>{4}));
  EXPECT_EQ(batches[3], (std::vector<int>{5}));
}

}  // namespace
}  // namespace arrcoc::serving::test
