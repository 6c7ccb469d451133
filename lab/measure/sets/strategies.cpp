// Sets by name, one line each.
#include "lab/measure/sets.h"

namespace arrcoc::measuring {

namespace {

using Names = std::vector<std::string>;

const Names kPicture = {"", ".jpg", ".png", ".jpeg"};
const Names kFilm = {".mp4", ".avi", ".mkv", ".webm", ".mov", ""};  // a folder of frames last

Registry<QuestionSet> filled() {
  Registry<QuestionSet> all;
  const auto add = [&](const char* name, const char* summary, const QuestionSet& set) {
    all.add(name, summary, [set] { return std::make_unique<QuestionSet>(set); });
  };
  const Names images = {"images"};
  add("docvqa", "val_v1.0*.json; ANLS", {images, {"", "images"}, kPicture, sets::docvqa});
  add("infographicvqa", "infographicsVQA_*.json; ANLS",
      {images, {"", "images", "infographicsvqa_images"}, kPicture, sets::infographicvqa});
  add("chartqa", "*_human.json, *_augmented.json; relaxed accuracy, 5 %",
      {images, {"png", "", "images"}, kPicture, sets::chartqa});
  add("textvqa", "TextVQA_0.5.1_val.json; VQA accuracy as EvalAI counts it",
      {images, {"train_images", "", "images", "test_images"}, kPicture, sets::textvqa});
  add("vqav2", "v2_OpenEnded_*_questions.json and annotations=FILE; VQA accuracy",
      {{"images", "annotations"}, {"val2014", "", "images", "train2014"}, kPicture, sets::vqav2});
  add("gqa", "testdev_balanced_questions.json; accuracy",
      {images, {"images", "", "../images"}, kPicture, sets::gqa});
  add("refcoco", "refs as JSON and instances=FILE, MDETR's JSON, or lines; pointing and recall",
      {{"images", "instances", "split"},
       {"train2014", "", "images", "images/train2014"},
       kPicture,
       sets::refcoco});
  add("vstar", "V*Bench, test_questions.jsonl; choice",
      {images, {"", "images"}, kPicture, sets::vstar});
  add("hrbench", "HR-Bench, hr_bench_*.tsv; choice, over cyclic permutations",
      {images, {"", "images"}, kPicture, sets::hrbench});
  add("msrvtt-qa", "MSR-VTT QA, val_qa.json with films in videos=DIR; exact match",
      {{"videos", "frames"}, {"", "videos", "video", "TrainValVideo"}, kFilm, sets::msrvtt});
  return all;
}

}  // namespace
}  // namespace arrcoc::measuring

namespace arrcoc {

template <>
Registry<measuring::QuestionSet>& registry<measuring::QuestionSet>() {
  static Registry<measuring::QuestionSet> all = measuring::filled();
  return all;
}

}  // namespace arrcoc
