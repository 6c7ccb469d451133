#include "lab/scenes/library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arrcoc/error.h"

namespace arrcoc::scenes {

bool Family::has(const std::string& role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

Library::Library(const std::string& folder) : words_(folder + "/words") {
  load_fonts(folder + "/fonts");
  load_atlas(folder);
}

void Library::load_fonts(const std::string& folder) {
  std::ifstream in(folder + "/index.txt");
  if (!in)
    throw Error(ErrorCode::not_found, "fonts of the scene generator not found: " + folder +
                                          "/index.txt (pass the folder assets/ of the project)");
  std::unordered_map<std::string, int> loaded;
  auto load = [&](const std::string& file) {
    if (file == "-") return -1;
    if (auto found = loaded.find(file); found != loaded.end()) return found->second;
    fonts_.emplace_back(folder + "/" + file);
    return loaded[file] = static_cast<int>(fonts_.size()) - 1;
  };
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string regular, bold, italic, roles, role;
    Family family;
    words >> family.name >> regular >> bold >> italic >> roles;
    family.regular = load(regular);
    family.bold = load(bold);
    family.italic = load(italic);
    std::istringstream list(roles);
    while (std::getline(list, role, ',')) {
      if (role == "held") family.held = true;
      family.roles.push_back(role);
    }
    const int index = static_cast<int>(families_.size());
    for (const auto& r : family.roles) (family.held ? held_ : open_)[r].push_back(index);
    families_.push_back(std::move(family));
  }
}

const Family& Library::family(Random& random, const std::string& role, bool held) const {
  const auto& by_role = held ? held_ : open_;
  auto found = by_role.find(role);
  // The few roles without a held-back family (seven-segment digits) fall back to the open one.
  if (found == by_role.end()) found = open_.find(role);
  if (found == open_.end()) throw Error(ErrorCode::not_found, "no font with the role " + role);
  return families_[static_cast<size_t>(random.pick(found->second))];
}

const Family& Library::named(const std::string& name) const {
  for (const Family& family : families_)
    if (family.name == name) return family;
  throw Error(ErrorCode::not_found, "no font family named " + name);
}

std::string find_assets() {
  if (const char* named = std::getenv("ARRCOC_ASSETS"); named && *named) return named;
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  for (const char* place : {"../share/arrcoc/assets", "../assets", "../../assets"}) {
    const std::filesystem::path folder = program.parent_path() / place;
    if (!failed && std::filesystem::exists(folder / "fonts/index.txt", failed))
      return folder.lexically_normal().string();
  }
  throw Error(
      ErrorCode::not_found,
      "assets of the scene generator not found; set ARRCOC_ASSETS to the project's folder assets");
}

std::shared_ptr<const Assets> Assets::load(const std::string& folder) {
  return std::make_shared<Library>(folder);
}

}  // namespace arrcoc::scenes
