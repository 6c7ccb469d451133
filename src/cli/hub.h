// Models by name on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "arrcoc/hub.h"

namespace arrcoc::cli {

// --offline, and where a model lies that is given by its folder or as OWNER/NAME[@REVISION].
class HubFlags {
 public:
  explicit HubFlags(CLI::App& app);
  // A folder of that name; else the model of that name in the cache; else it is pulled, with notes
  // and progress on standard error. What can be neither comes back as it is.
  std::string folder(const std::string& given) const;
  // As it is on the hub now.
  std::string pull(const hub::Name& name) const;

 private:
  hub::Settings settings() const;
  std::shared_ptr<bool> offline_ = std::make_shared<bool>(false);
};

hub::Settings hub_settings();  // by the environment
// HubFlags::folder() without the network: Error{not_found} says how to pull what is not there.
std::string cached_folder(const std::string& given);

}  // namespace arrcoc::cli
