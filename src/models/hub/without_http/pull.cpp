// Models by name in a build without HTTP: those that are in the cache.
#include "arrcoc/error.h"
#include "arrcoc/hub.h"

namespace arrcoc::hub {

std::string pull(const Name& name, const Settings& settings, const Progress&) {
  const std::string folder = find(name, settings);
  if (!folder.empty()) return folder;
  throw Error(ErrorCode::unsupported,
              name.text() + " is not in " + settings.cache +
                  ", and this build cannot fetch it (made without HTTP): copy the model's folder");
}

}  // namespace arrcoc::hub
