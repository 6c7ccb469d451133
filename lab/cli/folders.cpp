#include "lab/cli/folders.h"

#include <algorithm>

#include "arrcoc/error.h"
#include "arrcoc/media.h"

namespace arrcoc::cli {

using answering::Group;
using measuring::Item;

answering::GroupSource folder_groups(const std::string& folder, int limit, int first) {
  auto items = std::make_shared<std::vector<Item>>(measuring::load_items(folder));
  if (limit > 0 && items->size() > static_cast<size_t>(limit)) items->resize(limit);
  std::stable_sort(items->begin(), items->end(),
                   [](const Item& a, const Item& b) { return a.image < b.image; });
  return [=, at = size_t{0}, number = first]() mutable -> std::optional<Group> {
    if (at >= items->size()) return std::nullopt;
    Group group;
    group.number = number++;
    group.suite = folder;
    const std::string image = (*items)[at].image;
    group.picture = media::load(image);
    for (; at < items->size() && (*items)[at].image == image; ++at) {
      const Item& item = (*items)[at];
      if (group.picture.width() != item.width || group.picture.height() != item.height) {
        throw Error(ErrorCode::bad_image, image + " is " + std::to_string(group.picture.width()) +
                                              "x" + std::to_string(group.picture.height()) +
                                              ", its line says otherwise");
      }
      group.cases.push_back({item, "", ""});
    }
    return group;
  };
}

}  // namespace arrcoc::cli
