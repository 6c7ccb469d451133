// MSR-VTT QA.
#include "arrcoc/error.h"
#include "lab/measure/sets/files.h"

namespace arrcoc::measuring::sets {

namespace {

constexpr int kFrames = 8, kMostFrames = 256;

int frames_of(const SetFile& file) {
  const std::string given = file.part("frames");
  if (given.empty()) return kFrames;
  const bool number =
      given.size() <= 3 && given.find_first_not_of("0123456789") == std::string::npos;
  const int out = number ? std::stoi(given) : 0;
  if (out < 1 || out > kMostFrames)
    throw Error(ErrorCode::bad_argument,
                "frames=" + given + ": 1 to " + std::to_string(kMostFrames) + " frames of a film");
  return out;
}

}  // namespace

// [{"id", "video_id", "question", "answer"}, ...]; the film of 7010 is video7010.mp4. Questions are
// counted by their first word, as the paper does.
std::vector<Item> msrvtt(const SetFile& file) {
  const int frames = frames_of(file);
  std::vector<Item> out;
  each_entry(file.file, whole(file.file), "", [&](const Line& line) {
    Item item;
    item.id = line.has("id") ? name_in(line, "id") : std::to_string(out.size());
    const std::string film = name_in(line, "video_id");
    item.image = film.rfind("video", 0) == 0 ? film : "video" + film;
    item.frames = frames;
    item.question = line.text("question");
    item.answer = line.text("answer");
    item.kind = item.question.substr(0, item.question.find(' '));
    item.after = kBriefly;
    out.push_back(std::move(item));
  });
  return out;
}

}  // namespace arrcoc::measuring::sets
