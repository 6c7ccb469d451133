// Small files in the form in which the sets are published.
#include "lab/measure/sets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "folder.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {
namespace {

struct Sets : ::testing::Test {
  test::Folder folder;
  std::string put(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // One line that holds all of these words.
  static void expect_error(const std::string& data, const std::vector<std::string>& words) {
    try {
      load_items(data);
      FAIL() << data;
    } catch (const Error& problem) {
      const std::string what = problem.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      for (const std::string& word : words)
        EXPECT_NE(what.find(word), std::string::npos) << what << " without " << word;
    }
  }
};

TEST_F(Sets, DocVqaHasSeveralAnswersAndItsImagesBesideTheFile) {
  put("documents/xnbl0037_1.png", "picture");
  const std::string file = put("val_v1.0.json", R"({"dataset_name": "docvqa", "data": [
    {"questionId": 49153, "question": "What is the total?", "question_types": ["figure/diagram"],
     "image": "documents/xnbl0037_1.png", "docId": 14465, "answers": ["0.28", "28 %"],
     "data_split": "val"},
    {"questionId": 7, "question": "Who?", "image": "documents/xnbl0037_1.png", "docId": 1}]})");
  const std::vector<Item> items = load_items("docvqa:" + file);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "49153");
  EXPECT_EQ(items[0].image, folder / "documents/xnbl0037_1.png");
  EXPECT_EQ(items[0].accepted, (std::vector<std::string>{"0.28", "28 %"}));
  EXPECT_EQ(items[0].kind, "figure/diagram");
  EXPECT_EQ(items[0].metric, Metric::anls);
  EXPECT_EQ(items[0].width, 0);
  EXPECT_FALSE(items[1].answer);  // the test split
  EXPECT_DOUBLE_EQ(score(items[0], "28%"), 0.75);
}

TEST_F(Sets, InfographicVqaNamesItsPicturesOtherwise) {
  put("elsewhere/38684.jpeg", "picture");
  const std::string file = put("infographicsVQA_val_v1.0_withQT.json", R"({"data": [
    {"questionId": 98313, "question": "Which?", "image_local_name": "38684.jpeg",
     "image_url": "x", "answers": ["facebook"]}]})");
  const auto items = load_items("infographicvqa:" + file + ",images=" + (folder / "elsewhere"));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].image, folder / "elsewhere/38684.jpeg");
  expect_error("docvqa:" + file, {file, "data[0]", "image"});
}

TEST_F(Sets, ChartQaIsAListWithItsPicturesInPng) {
  put("png/41699051005347.png", "picture");
  const std::string text =
      R"([{"imgname": "41699051005347.png", "query": "How many?", "label": "14"}])";
  const auto human = load_items("chartqa:" + put("test_human.json", text));
  const auto made = load_items("chartqa:" + put("test_augmented.json", text));
  EXPECT_EQ(human[0].kind, "human");
  EXPECT_EQ(made[0].kind, "augmented");
  EXPECT_EQ(human[0].image, folder / "png/41699051005347.png");
  EXPECT_EQ(score(human[0], "14.5"), 1);
  EXPECT_EQ(score(human[0], "15"), 0);
}

TEST_F(Sets, TextVqaHasTenAnswersAndPicturesByTheirId) {
  put("train_images/003a8ae2ef43b901.jpg", "picture");
  const std::string file = put("TextVQA_0.5.1_val.json", R"({"data": [{"question_id": 34602,
    "question": "what is the brand?", "image_id": "003a8ae2ef43b901", "set_name": "val",
    "answers": ["nous les gosses","dakota","clos culombu","dakota digital","dakota","dakota",
                "dakota digital","dakota digital","dakota","dakota"]}]})");
  const auto items = load_items("textvqa:" + file);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].image, folder / "train_images/003a8ae2ef43b901.jpg");
  EXPECT_EQ(*items[0].answer, "dakota");
  EXPECT_EQ(items[0].accepted.size(), 10U);
  EXPECT_NEAR(score(items[0], "Dakota"), 1, 1e-12);
  EXPECT_NEAR(score(items[0], "dakota digital"), 0.9, 1e-12);  // three people: 7 x 1 + 3 x 2/3
}

TEST_F(Sets, VqaV2JoinsQuestionsWithTheirAnnotations) {
  put("val2014/COCO_val2014_000000262148.jpg", "picture");
  const std::string questions =
      put("v2_OpenEnded_mscoco_val2014_questions.json",
          R"({"data_type": "mscoco", "data_subtype": "val2014", "questions": [
      {"image_id": 262148, "question": "Where is he looking?", "question_id": 262148000}]})");
  const std::string annotations = R"({"annotations": [{"question_type": "none of the above",
      "multiple_choice_answer": "down", "image_id": 262148, "answer_type": "other",
      "question_id": 262148000, "answers": [{"answer": "down", "answer_confidence": "yes",
      "answer_id": 1}, {"answer": "at table", "answer_id": 2}, {"answer": "down", "answer_id": 3},
      {"answer": "down", "answer_id": 4}]}]})";
  expect_error("vqav2:" + questions, {questions, "annotations=FILE"});
  const std::string elsewhere = put("mine.json", annotations);
  const auto told = load_items("vqav2:" + questions + ",annotations=" + elsewhere);
  put("v2_mscoco_val2014_annotations.json", annotations);
  const auto items = load_items("vqav2:" + questions);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(items[0].image, folder / "val2014/COCO_val2014_000000262148.jpg");
  EXPECT_EQ(*items[0].answer, "down");
  EXPECT_EQ(items[0].kind, "other");
  EXPECT_NEAR(score(items[0], "Down."), (3 * 2.0 / 3 + 1) / 4, 1e-12);
  put("v2_mscoco_val2014_annotations.json", R"({"annotations": []})");
  expect_error("vqav2:" + questions, {"questions[0]", "262148000"});
}

TEST_F(Sets, GqaIsAnObjectOfQuestions) {
  put("images/n161313.jpg", "picture");
  const std::string file = put("testdev_balanced_questions.json", R"({"201307251":
    {"semantic": [], "imageId": "n161313", "question": "Is it overcast?", "answer": "no",
     "types": {"structural": "verify", "semantic": "global"}, "isBalanced": true}})");
  const auto items = load_items("gqa:" + file);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].id, "201307251");
  EXPECT_EQ(items[0].kind, "verify");
  EXPECT_EQ(items[0].image, folder / "images/n161313.jpg");
  EXPECT_EQ(score(items[0], "No."), 1);
}

TEST_F(Sets, RefCocoComesAsRefsAsMdetrAndAsLines) {
  put("train2014/COCO_train2014_000000581857.jpg", "picture");
  put("instances.json", R"({"images": [{"id": 581857, "width": 640, "height": 427,
     "file_name": "COCO_train2014_000000581857.jpg"}],
    "annotations": [{"id": 1719310, "image_id": 581857, "bbox": [103.93, 299.99, 134.22, 200]}],
    "categories": []})");
  const std::string refs = put("refs(unc).json", R"([{"ref_id": 0, "ann_id": 1719310,
    "image_id": 581857, "file_name": "COCO_train2014_000000581857_16.jpg", "split": "testA",
    "category_id": 1, "sent_ids": [0, 1], "sentences": [{"tokens": ["the", "lady"],
    "raw": "THE LADY", "sent_id": 0, "sent": "the lady"}, {"sent_id": 1, "sent": "woman"}]}])");
  const auto items = load_items("refcoco:" + refs + ",split=test");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].question, "the lady");
  EXPECT_FALSE(items[0].answer);
  EXPECT_EQ(items[0].kind, "testA");
  ASSERT_EQ(items[0].answer_boxes.size(), 1U);
  EXPECT_FLOAT_EQ(items[0].answer_boxes[0].x1, 103.93F + 134.22F);
  EXPECT_FLOAT_EQ(items[0].answer_boxes[0].y1, 427);  // clipped to the picture
  expect_error("refcoco:" + refs + ",split=val", {"no questions"});

  const std::string mdetr = put("finetune_refcoco_val.json", R"({"images": [{"id": 0,
    "file_name": "COCO_train2014_000000581857.jpg", "width": 640, "height": 427,
    "caption": "the lady"}], "annotations": [{"id": 5, "image_id": 0, "bbox": [1, 2, 3, 4]}]})");
  const auto other = load_items("refcoco:" + mdetr);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].question, "the lady");
  EXPECT_EQ(other[0].answer_boxes[0], (Box{1, 2, 4, 6}));

  const std::string lines =
      put("refcoco_val.jsonl",
          R"({"image": "data/coco/COCO_train2014_000000581857.jpg", "sent": "the lady",
          "bbox": [1, 2, 30, 40], "height": 427, "width": 640})");
  expect_error("refcoco:" + lines, {lines + ":1"});  // an object on several lines
  put("refcoco_val.jsonl",
      R"({"image": "data/coco/COCO_train2014_000000581857.jpg", "sent": "the lady", )"
      R"("bbox": [1, 2, 30, 40], "height": 427, "width": 640})");
  const auto last = load_items("refcoco:" + lines + ",images=" + (folder / "train2014"));
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].answer_boxes[0], (Box{1, 2, 30, 40}));
}

TEST_F(Sets, VStarHasItsOptionsInTheText) {
  put("direct_attributes/sa_4690.jpg", "picture");
  const std::string file = put(
      "test_questions.jsonl",
      R"({"image": "direct_attributes/sa_4690.jpg", "text": "What is the material of the glove?\n)"
      R"((A) rubber\n(B) cotton\n(C) kevlar\n(D) leather\n)"
      R"(Answer with the option's letter from the given choices directly.", )"
      R"("category": "direct_attributes", "label": "A", "question_id": 0})"
      "\n");
  const auto items = load_items("vstar:" + file);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].question, "What is the material of the glove?");
  EXPECT_EQ(items[0].options, (std::vector<std::string>{"rubber", "cotton", "kevlar", "leather"}));
  EXPECT_EQ(items[0].after.rfind("\n(A) rubber\n(B)", 0), 0U);
  EXPECT_EQ(score(items[0], "(A)"), 1);
  EXPECT_EQ(score(items[0], "rubber"), 1);
  EXPECT_EQ(score(items[0], "B"), 0);
  put("test_questions.jsonl", R"({"image": "x.jpg", "text": "What? (A) a (B) b", "label": "C"})");
  expect_error("vstar:" + file, {file + ":1", "label", "C"});
}

TEST_F(Sets, HrBenchHoldsItsPicturesInTheTable) {
  const std::string base64(400, 'A');
  const std::string heading =
      "index\tquestion\tanswer\tcategory\tA\tB\tC\tD\tcycle_category\timage\n";
  const std::string file = put(
      "hr_bench_4k.tsv",
      heading + "0\t\"What does the \"\"sign\"\" say,\nbelow?\"\tA\tsingle\tgo\tstop\t5\t\t0\t" +
          base64 + "\n" + "1\tWhat?\tB\tsingle\tstop\tgo\t5\tno\t1\t" + base64 + "\n" +
          "2\tWhat?\tC\tcross\tstop\tgo\t5\tno\t2\t0\n");
  const auto items = load_items("hrbench:" + file);
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].question, "What does the \"sign\" say,\nbelow?");
  EXPECT_EQ(items[0].after, "\nA. go\nB. stop\nC. 5\nAnswer the option letter directly.");
  EXPECT_EQ(items[1].image, items[0].image);  // the permutations share a picture
  EXPECT_EQ(items[2].image, items[0].image);  // by its row
  EXPECT_EQ(items[2].kind, "cross");
  ASSERT_TRUE(items[0].embedded);
  std::ifstream in(file, std::ios::binary);
  std::string found(static_cast<size_t>(items[0].embedded->length), ' ');
  in.seekg(items[0].embedded->at);
  in.read(found.data(), items[0].embedded->length);
  EXPECT_EQ(found, base64);
  EXPECT_EQ(score(items[1], "go"), 1);

  put("pictures/one.jpg", "picture");
  const std::string paths =
      put("hr.tsv", heading + "0\tWhat?\tA\tsingle\ta\tb\tc\td\t0\tone.jpg\n");
  EXPECT_EQ(load_items("hrbench:" + paths + ",images=" + (folder / "pictures"))[0].image,
            folder / "pictures/one.jpg");
  put("hr.tsv", heading + "0\tWhat?\tA\n");
  expect_error("hrbench:" + paths, {paths + ":2", "fields"});
  put("hr.tsv", heading + "0\tWhat?\tZ\tsingle\ta\tb\tc\td\t0\tone.jpg\n");
  expect_error("hrbench:" + paths, {paths + ":2", "'Z'"});
  put("hr.tsv", "index\tquestion\n0\t\"What?\n");
  expect_error("hrbench:" + paths, {paths + ":2", "quote"});
}

TEST_F(Sets, MsrVttAsksAboutFilms) {
  put("videos/video6513.mp4", "film");
  const std::string file = put("val_qa.json", R"([{"answer": "couch", "category_id": 14,
    "id": 158581, "question": "what are three people sitting on?", "video_id": 6513}])");
  const auto items = load_items("msrvtt-qa:" + file + ",frames=4");
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].image, folder / "videos/video6513.mp4");
  EXPECT_EQ(items[0].frames, 4);
  EXPECT_EQ(items[0].kind, "what");
  EXPECT_EQ(score(items[0], "Couch"), 1);
  expect_error("msrvtt-qa:" + file + ",frames=0", {"frames=0"});
}

TEST_F(Sets, SayWhatIsWrongWithAFile) {
  const std::string file = put("val.json", "{\"data\": [\n{\"questionId\": 1,\n ]}");
  expect_error("docvqa:" + file, {file + ":3", "JSON"});
  put("val.json", R"({"data": [{"questionId": 1, "question": 5, "image": "a"}]})");
  expect_error("docvqa:" + file, {file, "data[0]", "question"});
  put("val.json", R"({"data": [{"questionId": 1e999}]})");  // parses, but is no number
  expect_error("docvqa:" + file, {file, "JSON"});
  put("val.json", R"({"data": {}})");
  expect_error("docvqa:" + file, {file, "data"});
  put("val.json", R"({"data": []})");
  expect_error("docvqa:" + file, {file, "no questions"});
  put("val.json", R"({"data": [{"questionId": 1, "question": "a?", "image": "no.png"}]})");
  expect_error("docvqa:" + file, {file, "no.png", "images=DIR"});
  expect_error("docvqa:" + (folder / "none.json"), {"none.json"});
  expect_error("docvq:" + file, {"docvq", "docvqa", "vstar"});
  expect_error("docvqa:" + file + ",annotations=x", {"annotations", "images"});
  expect_error("docvqa:", {"the file is missing"});
  expect_error("chartqa:" + put("c.json", "[5]"), {"c.json", "[0]"});
  expect_error("gqa:" + put("g.json", "[]"), {"g.json", "object"});
}

TEST_F(Sets, LeaveFoldersAndOddNamesAlone) {
  EXPECT_FALSE(set_file("some/docvqa:x"));
  EXPECT_FALSE(set_file("folder"));
  std::filesystem::create_directories("vstar:folder");  // here, where the test runs
  EXPECT_FALSE(set_file("vstar:folder"));
  std::filesystem::remove("vstar:folder");
  const auto set = set_file("docvqa:a,b/val,1.json,images=x,y");
  ASSERT_TRUE(set);
  EXPECT_EQ(set->file, "a,b/val,1.json");
  EXPECT_EQ(set->part("images"), "x,y");
}

}  // namespace
}  // namespace arrcoc::measuring
