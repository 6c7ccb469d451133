// Names, settings, sums, listings and the cache. The network's part is in tests/web/hub.mjs.
#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "arrcoc/error.h"
#include "folder.h"
#include "models/hub/cache.h"
#include "models/hub/listing.h"
#include "models/hub/proxy.h"
#include "models/hub/transport.h"

using namespace arrcoc;
using namespace arrcoc::hub;
namespace fs = std::filesystem;
using test::Folder;

namespace {

const std::string kCommit(40, 'a');
const std::string kOther = "0123456789abcdef0123456789abcdef01234567";

Settings with(std::map<std::string, std::string> environment) {
  environment.emplace("HOME", "/home/eve");
  return settings_of([&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  });
}

void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& problem) {
    return problem.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::numeric;
}

// Cases of huggingface_hub's tests/test_utils_validators.py and of its documentation.
TEST(HubName, TakesWhatTheHubTakes) {
  for (const char* name : {"foo/bar", "Foo-BAR_foo.bar123/x", "org/with-dash.dot", "a/b@main",
                           "123/Repo", "a/b@refs/pr/12", "a/b@v1.0+x"})
    EXPECT_TRUE(parse_name(name)) << name;
  for (const char* name :
       {"",          "foo",        "foo/bar/baz", ".repo/id", "foo/bar.", "repo/foo--bar",
        "foo/bar--", "foo/ar.git", "foo/x..y",    "foo /bar", "f/bär",    "a/b@",
        "a/b@../x",  "a/b@x//y",   "a/b@/x",      "a/b@.x",   "a/b@x y",  "-a/b",
        "a/-b",      "./x",        "~/x",         "a/b@c@d"})
    EXPECT_FALSE(parse_name(name)) << name;
  EXPECT_FALSE(parse_name("a/" + std::string(97, 'x')));
  EXPECT_EQ(parse_name("a/b@refs/pr/12")->text(), "a/b@refs/pr/12");
  EXPECT_EQ(parse_name("a/b@main")->text(), "a/b");
}

TEST(HubSettings, FollowHuggingFacesVariables) {
  EXPECT_EQ(with({}).cache, "/home/eve/.cache/huggingface/hub");
  EXPECT_EQ(with({{"XDG_CACHE_HOME", "/c"}}).cache, "/c/huggingface/hub");
  EXPECT_EQ(with({{"XDG_CACHE_HOME", "/c"}, {"HF_HOME", "~/hf"}}).cache, "/home/eve/hf/hub");
  EXPECT_EQ(with({{"HF_HOME", "$D/${D}x/$E"}, {"D", "d"}}).cache, "d/dx/$E/hub");
  EXPECT_EQ(with({{"HF_HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/old");
  EXPECT_EQ(with({{"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/new"}}).cache, "/new");
  EXPECT_EQ(with({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(with({{"HF_ENDPOINT", "http://mirror:8080/hf//"}}).endpoint, "http://mirror:8080/hf");
  for (const char* yes : {"1", "ON", "yes", "True"})
    EXPECT_TRUE(with({{"HF_HUB_OFFLINE", yes}}).offline);
  for (const char* no : {"0", "", "off"}) EXPECT_FALSE(with({{"HF_HUB_OFFLINE", no}}).offline);
  EXPECT_TRUE(with({{"TRANSFORMERS_OFFLINE", "1"}}).offline);
  EXPECT_EQ(with({{"HF_HUB_DOWNLOAD_TIMEOUT", "30"}}).seconds, 30);
  EXPECT_EQ(code_of([] { with({{"HF_HUB_DOWNLOAD_TIMEOUT", "soon"}}); }), ErrorCode::bad_argument);
}

TEST(HubProxies, AreReadAsCurlAndPythonReadThem) {
  const Settings both =
      with({{"HTTPS_PROXY", "http://gate.example:3128"}, {"HTTP_PROXY", "plain"}});
  EXPECT_EQ(proxy_for("https://hub", both)->host, "gate.example");
  EXPECT_EQ(proxy_for("https://hub", both)->port, 3128);
  EXPECT_EQ(proxy_for("http://hub:81", both)->host, "plain");
  EXPECT_EQ(proxy_for("http://hub:81", both)->port, 80);
  EXPECT_FALSE(proxy_for("https://hub", with({{"HTTP_PROXY", "plain"}})));
  EXPECT_EQ(proxy_for("https://hub", with({{"ALL_PROXY", "all:9"}}))->host, "all");
  EXPECT_EQ(with({{"https_proxy", "small"}, {"HTTPS_PROXY", "LARGE"}}).https_proxy, "small");
  const Proxy named = parse_proxy("HTTP://eve:p%40ss%3Aword@[::1]:8080/");
  EXPECT_EQ(named.host, "::1");
  EXPECT_EQ(named.port, 8080);
  EXPECT_EQ(named.user, "eve");
  EXPECT_EQ(named.password, "p@ss:word");
  for (const char* wrong : {"socks5://x:1080", "https://x", "http://", ":80", "x:0", "x:70000",
                            "x:8y", "x/y", "a b", "[::1"})
    EXPECT_EQ(code_of([&] { parse_proxy(wrong); }), ErrorCode::bad_argument) << wrong;
}

TEST(HubProxies, SpareWhatNoProxyNames) {
  const auto through = [](const std::string& origin, const std::string& list) {
    return proxy_for(origin, with({{"HTTPS_PROXY", "gate"}, {"NO_PROXY", list}})).has_value();
  };
  EXPECT_TRUE(through("https://hub.example", ""));
  for (const char* list :
       {"*", "hub.example", ".example", "example", "a, HUB.example ,b", "hub.example:443"})
    EXPECT_FALSE(through("https://Hub.Example:443", list)) << list;
  for (const char* list : {"ub.example", "hub.example.org", "ample", "x.hub.example", ",", "."})
    EXPECT_TRUE(through("https://hub.example", list)) << list;
  EXPECT_FALSE(through("https://127.0.0.1:8080", "localhost,127.0.0.1"));
  EXPECT_FALSE(through("https://[::1]:8080", "::1"));
}

TEST(HubSettings, FindTheToken) {
  Folder folder;
  put(folder / "token", " hf_file\r\n");
  put(folder / "other", "hf_other");
  const std::string home = folder.path();
  EXPECT_EQ(with({{"HF_HOME", home}}).token, "hf_file");
  EXPECT_EQ(with({{"HF_HOME", home}, {"HF_TOKEN_PATH", folder / "other"}}).token, "hf_other");
  EXPECT_EQ(with({{"HF_HOME", home}, {"HUGGING_FACE_HUB_TOKEN", "hf_old"}}).token, "hf_old");
  EXPECT_EQ(with({{"HUGGING_FACE_HUB_TOKEN", "hf_old"}, {"HF_TOKEN", "hf_new\n"}}).token, "hf_new");
  EXPECT_EQ(with({{"HF_TOKEN", "x"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}).token, "");
  EXPECT_EQ(with({{"HF_HOME", folder / "none"}}).token, "");
  for (const std::string& bad :
       {std::string("a\nX: y"), std::string("a b"), std::string(5000, 'x')})
    EXPECT_EQ(code_of([&] { with({{"HF_TOKEN", bad}}); }), ErrorCode::bad_argument);
}

TEST(HubSums, AreThoseOfGitAndOfLargeFiles) {
  Digest git(std::string(40, '0'), 6);  // git hash-object of "hello\n"
  git.add("hel", 3);
  git.add("lo\n", 3);
  EXPECT_EQ(git.hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
  Digest large(std::string(64, '0'), 3);  // FIPS 180-4
  large.add("abc", 3);
  EXPECT_EQ(large.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Digest("cdn-5", 3).hex(), "");
  EXPECT_EQ(normal_etag("\"" + kOther + "\""), kOther);
  EXPECT_EQ(normal_etag("W/\"" + kOther + "\""), kOther);
  for (const char* bad : {"../x", "a/b", "", "a b", "a.lock"}) EXPECT_EQ(normal_etag(bad), "");
}

TEST(HubListing, ReadsWhatTheHubSays) {
  const std::string sum(64, 'b');
  const Listing all = parse_listing(
      R"({"sha":")" + kCommit + R"(","siblings":[{"rfilename":"config.json","size":9,"blobId":")" +
          kOther + R"("},{"rfilename":"model.safetensors","size":1,"blobId":")" + kOther +
          R"(","lfs":{"sha256":")" + sum + R"(","size":70000000000,"pointerSize":135}},)" +
          R"({"rfilename":"a b/c.png","size":-4,"blobId":"../../x"},{"rfilename":"d"},7]})",
      "a/b");
  EXPECT_EQ(all.commit, kCommit);
  ASSERT_EQ(all.files.size(), 4U);
  EXPECT_EQ(all.file("config.json")->etag, kOther);
  EXPECT_EQ(all.file("model.safetensors")->etag, sum);
  EXPECT_EQ(all.file("model.safetensors")->size, 70'000'000'000);
  EXPECT_EQ(all.file("a b/c.png")->etag, "");
  EXPECT_EQ(all.file("a b/c.png")->size, -1);
  const std::vector<File> small = small_files(all, "a/b");
  ASSERT_EQ(small.size(), 1U);
  EXPECT_EQ(small[0].path, "config.json");
  EXPECT_EQ(code_of([&] {
              small_files({kCommit, {{"config.json"}}}, "a/b");
            }),
            ErrorCode::not_found);
}

TEST(HubAddresses, AreReadAndFollowed) {
  EXPECT_EQ(parse_url("https://h:8/a?b=c#d").path, "/a?b=c");
  EXPECT_EQ(parse_url("http://h").path, "/");
  EXPECT_EQ(parse_url("http://h?q").path, "/?q");
  for (const char* bad : {"h/x", "ftp://h", "http://", "http://u@h/", "http://h/a b", "http:///x"})
    EXPECT_EQ(code_of([&] { parse_url(bad); }), ErrorCode::bad_argument) << bad;
  const Url at = parse_url("https://hub/a");
  EXPECT_EQ(redirected(at, "/b?c").origin, "https://hub");
  EXPECT_EQ(redirected(at, "//cdn/b").origin, "https://cdn");
  EXPECT_EQ(redirected(parse_url("http://h/"), "https://cdn/b").path, "/b");
  EXPECT_EQ(code_of([&] { redirected(at, "http://hub/a"); }), ErrorCode::io);
  EXPECT_EQ(code_of([&] { redirected(at, "file:///etc/passwd"); }), ErrorCode::bad_argument);
  EXPECT_EQ(escaped("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(escaped("a b/\xc3\xa9", true), "a%20b/%C3%A9");
}

TEST(HubAddresses, SayHowLongToWait) {
  const auto wait = [](int status, const char* name, const char* value) {
    return Reply{status, {{name, value}}}.wait();
  };
  EXPECT_EQ(wait(429, "Retry-After", "17"), 17);
  EXPECT_EQ(wait(429, "RateLimit", "\"api\";r=0;t=55"), 55);
  EXPECT_LT(wait(503, "RateLimit", "\"api\";r=499;t=55"), 0);
  EXPECT_LT(wait(429, "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), 0);
}

TEST(HubCache, NamesTheWholeAndWhatIsMissing) {
  Folder folder;
  const Settings settings{folder.path()};
  const Place place({"acme", "two"}, folder.path());
  put(place.ref("main"), kCommit);
  put(place.ref("refs/pr/1"), kOther);
  put(place.ref("main.17.tmp"), kCommit);
  put(place.snapshot(kCommit) + "/config.json", "{}");
  put(place.snapshot(kOther) + "/config.json", "{}");
  put(place.snapshot(kOther) + "/model.safetensors", "");
  put(place.snapshot(kCommit) + "/model.safetensors.index.json",
      R"({"weight_map":{"a":"x-1.safetensors","b":"x-2.safetensors","c":"x-1.safetensors"}})");
  put(place.snapshot(kCommit) + "/x-1.safetensors", "");
  EXPECT_EQ(missing_in(place.snapshot(kCommit)), std::vector<std::string>{"x-2.safetensors"});
  EXPECT_EQ(find({"acme", "two"}, settings), "");
  fs::create_symlink("../../blobs/nothing", place.snapshot(kCommit) + "/x-2.safetensors");
  EXPECT_EQ(find({"acme", "two"}, settings), "") << "a link to nothing";
  put(place.blob("nothing"), "");
  EXPECT_EQ(find({"acme", "two"}, settings), place.snapshot(kCommit));
  EXPECT_EQ(find({"acme", "two", "refs/pr/1"}, settings), place.snapshot(kOther));
  EXPECT_EQ(find({"acme", "two", kOther}, settings), place.snapshot(kOther));
  EXPECT_EQ(find({"acme", "two", "v9"}, settings), "");
  fs::create_directories(folder / "models--gpt2/snapshots");
  fs::create_directories(folder / "datasets--acme--two/snapshots");
  const std::vector<Cached> all = cached(settings);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name.text(), "acme/two");
  EXPECT_EQ(all[1].name.text(), "acme/two@refs/pr/1");
}

// filelock keeps to flock(2), and some of its versions remove the file when they let go.
TEST(HubCache, LocksOutWhoeverLocksAsFilelockDoes) {
  Folder folder;
  const std::string path = folder / "x.lock";
  const int theirs = ::open(path.c_str(), O_RDWR | O_CREAT, 0664);
  ASSERT_EQ(::flock(theirs, LOCK_EX), 0);
  std::atomic<bool> waiting = false, got = false;
  std::thread ours([&] {
    const Lock lock(path, [&] { waiting = true; });
    got = true;
    const int again = ::open(path.c_str(), O_RDWR);
    EXPECT_NE(::flock(again, LOCK_EX | LOCK_NB), 0) << "the lock is on a file that is gone";
    ::close(again);
  });
  while (!waiting) std::this_thread::yield();
  EXPECT_FALSE(got);
  fs::remove(path);
  ::close(theirs);
  ours.join();
  EXPECT_TRUE(got);
  const Lock free(path, [] { ADD_FAILURE() << "nobody has it"; });
}

}  // namespace
