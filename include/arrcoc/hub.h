// Models by name: OWNER/NAME[@REVISION] of Hugging Face's hub, or of a mirror of its layout.
//
//   hub::Settings settings = hub::settings_of([](const char* name) { return std::getenv(name); });
//   std::string folder = hub::find({"Qwen", "Qwen3-VL-2B-Instruct"}, settings);   // "": not here
//   if (folder.empty()) folder = hub::pull({"Qwen", "Qwen3-VL-2B-Instruct"}, settings);
//   auto model = open_model(folder, {});
//
// The cache folder is laid out as huggingface_hub 1.28 does it (models--OWNER--NAME with refs,
// blobs and snapshots, and .locks beside them), so that either finds what the other downloaded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace arrcoc::hub {

struct Name {
  std::string owner, name;
  std::string revision = "main";  // a branch, tag or commit

  std::string repo() const { return owner + "/" + name; }
  std::string text() const { return revision == "main" ? repo() : repo() + "@" + revision; }
};

// Nothing for what cannot be the name of a model there.
std::optional<Name> parse_name(const std::string& text);

struct Settings {
  std::string cache;
  std::string endpoint = "https://huggingface.co";
  std::string token;  // "": none; only ever sent to the endpoint
  bool offline = false;
  double seconds = 10;  // of silence until a connection is given up
  // [http://][user:password@]host[:port] for addresses of either kind; "": none
  std::string http_proxy, https_proxy;
  std::string no_proxy;  // hosts that are reached without: names, .domains, or *; by commas
};

// By huggingface_hub's variables: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HF_ENDPOINT, HF_TOKEN,
// HF_TOKEN_PATH, HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT, and the
// older names of these; proxies by HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, lower case
// first. Error{bad_argument} for values that make no sense.
Settings settings_of(const std::function<const char*(const char*)>& environment);

// The folder of a model whose configuration and weights are all in the cache; "" when they are not.
std::string find(const Name& name, const Settings& settings);

// The folder of a model that is given by its folder or as OWNER/NAME[@REVISION], without the
// network; what can be neither comes back as it is. Error{not_found} says how to pull what is not
// in the cache.
std::string cached_folder(const std::string& given,
                          const std::function<const char*(const char*)>& environment);

struct Cached {
  Name name;  // the revision is a commit where no branch or tag points to it
  std::string folder;
};
// What is in the cache, whole or not, by name.
std::vector<Cached> cached(const Settings& settings);

struct Progress {
  std::function<void(const std::string&)> note = [](const std::string&) {};  // for people
  // Once, before anything is fetched: bytes that this takes and how many of them are here already.
  std::function<void(int64_t bytes, int64_t here)> plan = [](int64_t, int64_t) {};
  std::function<void(int64_t bytes)> step = [](int64_t) {};  // below 0: these were in vain
};

// Fetches what is missing of the files that we read, checks their sums, and gives their folder.
// What was begun is continued; several processes may pull the same model. Offline: find(). Error{
// not_found, bad_argument (token, access), io (network, disk, sums), too_large (disk), bad_json}.
std::string pull(const Name& name, const Settings& settings, const Progress& progress = {});

}  // namespace arrcoc::hub
