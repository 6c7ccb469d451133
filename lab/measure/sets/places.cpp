// RefCOCO, RefCOCO+ and RefCOCOg: where is what the words mean?
#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "arrcoc/error.h"
#include "lab/measure/sets/files.h"

namespace arrcoc::measuring::sets {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Photo {
  std::string file;
  int width = 0, height = 0;
  std::string said;  // MDETR: the words stand here
};
struct Instances {
  std::unordered_map<std::string, Photo> photos;
  std::unordered_map<std::string, Box> boxes;  // by annotation
};

Box checked(const Line& line, Box box, int width, int height) {
  box = {std::max(box.x0, 0.0F), std::max(box.y0, 0.0F),
         std::min(box.x1, static_cast<float>(width)), std::min(box.y1, static_cast<float>(height))};
  if (!(box.x1 > box.x0 && box.y1 > box.y0)) line.refuse("'bbox': an empty box");
  return box;
}

// COCO's [x, y, width, height].
Box coco_box(const Line& line) {
  if (!line.has("bbox")) line.refuse("no 'bbox'");
  const Box b = line.box(line.object()["bbox"], "bbox");
  return {b.x0, b.y0, b.x0 + b.x1, b.y0 + b.y1};
}

void read_photos(const std::string& file, const json& all, Instances& to) {
  each_entry(file, list_in(file, all, "images"), "images", [&](const Line& line) {
    to.photos[name_in(line, "id")] = {line.text("file_name"), line.size("width"),
                                      line.size("height"), word_in(line, "caption")};
  });
}

Item about(const Line& line, const Photo& photo, const Box& box, std::string words) {
  Item item;
  item.image = photo.file;
  item.width = photo.width;
  item.height = photo.height;
  item.question = std::move(words);
  item.answer_boxes = {checked(line, box, photo.width, photo.height)};
  return item;
}

const Photo& photo_of(const Line& line, const Instances& known, const std::string& file) {
  const std::string id = name_in(line, "image_id");
  const auto found = known.photos.find(id);
  if (found == known.photos.end()) line.refuse("image " + id + " is not in " + file);
  return found->second;
}

// {"images": [{"id", "file_name", "width", "height", "caption"}], "annotations": [{"image_id",
// "bbox"}]}: a picture for every expression.
std::vector<Item> of_mdetr(const std::string& file, const json& all) {
  Instances known;
  read_photos(file, all, known);
  std::vector<Item> out;
  each_entry(file, list_in(file, all, "annotations"), "annotations", [&](const Line& line) {
    const Photo& photo = photo_of(line, known, file);
    Item item = about(line, photo, coco_box(line), photo.said);
    item.id = line.has("id") ? name_in(line, "id") : std::to_string(out.size());
    if (!item.question.empty()) out.push_back(std::move(item));
  });
  return out;
}

// [{"ann_id", "image_id", "split", "sentences": [{"sent_id", "sent"}]}] of refs(unc).p written as
// JSON, and instances.json of COCO. testA and testB count as refer.py counts them.
std::vector<Item> of_refs(const SetFile& file, const json& refs) {
  const std::string given = file.part("instances"), split = file.part("split");
  const std::string instances =
      given.empty() ? (fs::path(file.file).parent_path() / "instances.json").string() : given;
  const json all = whole(instances);
  Instances known;
  read_photos(instances, all, known);
  each_entry(instances, list_in(instances, all, "annotations"), "annotations",
             [&](const Line& line) { known.boxes[name_in(line, "id")] = coco_box(line); });
  std::vector<Item> out;
  each_entry(file.file, refs, "", [&](const Line& line) {
    const std::string own = word_in(line, "split");
    if (!split.empty() && own != split && !(split == "test" && own.rfind("test", 0) == 0)) return;
    const std::string id = name_in(line, "ann_id");
    const auto box = known.boxes.find(id);
    if (box == known.boxes.end()) line.refuse("annotation " + id + " is not in " + instances);
    line.each("sentences", [&](const json& value, const std::string& key) {
      if (!value.is_object() || !value.contains("sent")) line.refuse("'" + key + "' has no 'sent'");
      Item item = about(line, photo_of(line, known, instances), box->second,
                        line.text(value["sent"], key + ".sent"));
      item.id = value.contains("sent_id") ? value["sent_id"].dump() : std::to_string(out.size());
      item.kind = own;
      if (!item.question.empty()) out.push_back(std::move(item));
    });
  });
  return out;
}

// {"image", "sent", "bbox": [x0,y0,x1,y1], "width", "height"} a line. The paths are those of a
// checkout: with images=DIR only their last part counts.
std::vector<Item> of_lines(const SetFile& file) {
  std::vector<Item> out;
  const bool elsewhere = !file.part("images").empty();
  each_line(file.file, [&](const Line& line) {
    const std::string path = line.text("image");
    const Photo photo = {elsewhere ? fs::path(path).filename().string() : path, line.size("width"),
                         line.size("height"), ""};
    if (!line.has("bbox")) line.refuse("no 'bbox'");
    Item item = about(line, photo, line.box(line.object()["bbox"], "bbox"), line.text("sent"));
    item.id = std::to_string(out.size());
    if (!item.question.empty()) out.push_back(std::move(item));
  });
  return out;
}

}  // namespace

std::vector<Item> refcoco(const SetFile& file) {
  if (fs::path(file.file).extension() == ".jsonl") return of_lines(file);
  const json all = whole(file.file);
  return all.is_object() ? of_mdetr(file.file, all) : of_refs(file, all);
}

}  // namespace arrcoc::measuring::sets
