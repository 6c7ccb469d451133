// Writes small files of every format into a folder: fuzz_seeds DIR
#include <cstdio>
#include <filesystem>
#include <functional>
#include <opencv2/imgcodecs.hpp>

#include "arrcoc/json.h"
#include "media/pictures.h"
#include "tokenizers/small.h"

using namespace pictures;

namespace {

// A safetensors file: length of the header, header, zeros.
Blob weights(const std::string& header, size_t bytes) {
  Blob out(8, 0);
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(uint64_t{header.size()} >> 8 * i);
  out.insert(out.end(), header.begin(), header.end());
  out.resize(out.size() + bytes, 0);
  return out;
}

Blob text(const std::string& words) { return {words.begin(), words.end()}; }

using Save =
    std::function<void(const std::string& kind, const std::string& name, const Blob& bytes)>;

// Pictures, for the fuzzer of all formats and for that of their own.
void each_format(const Save& save_as) {
  const auto save = [&](const std::string& name, const Blob& bytes) {
    const std::string format = name.substr(name.rfind('.') + 1);
    save_as("decode", name, bytes);
    if (format != "jpg" && format != "webp" && format != "bmp") save_as(format, name, bytes);
  };
  const cv::Mat picture = noise(19, 13, 1);
  const Blob jpeg = encoded(picture, ".jpg");
  const Blob webp = encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101});
  save("plain.jpg", jpeg);
  save("progressive.jpg", encoded(picture, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1}));
  save("turned.jpg", jpeg_with_exif(jpeg, exif(6, true)));
  save("cmyk.jpg", cmyk_jpeg(cv::Mat(9, 9, CV_8UC4, cv::Scalar(9, 99, 200, 30)), Inks::ycck));
  save("plain.png", encoded(picture, ".png"));
  save("turned.png", png_with_exif(encoded(picture, ".png"), exif(8, false), true));
  save("palette.png",
       png(4, 1, {{0b00011011}},
           {.colour_type = 3, .bits = 2, .palette = {{1, 2, 3}, {4, 5, 6}}, .transparent = {0}}));
  save("lossless.webp", webp);
  save("lossy.webp", encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 50}));
  save("turned.webp", webp_with_exif(webp, 19, 13, exif(3, false)));
  save("little.tiff", tiff(picture));
  save("big.tiff", tiff(picture, {.big_endian = true, .orientation = 5}));
  save("lzw.tiff", encoded(picture, ".tiff"));
  save("plain.bmp", encoded(picture, ".bmp"));
  save("os2.bmp", bmp(12, 2, 2, 8, 0, Blob(12, 7), {3, 0, 0, 0, 1, 2, 0, 0}));
  save("rle8.bmp", bmp(40, 2, 2, 8, 1, Blob(16, 7), {1, 3, 1, 0, 0, 0, 0, 3, 1, 2, 3, 0, 0, 1}));
  save("rle4.bmp", bmp(40, 2, 2, 4, 2, Blob(16, 7), {2, 0x30, 0, 2, 0, 1, 2, 0x12, 0, 1}));
  save("masks.bmp", bmp(108, 2, 2, 16, 3, {}, Blob(8, 9), {0xF800, 0x07E0, 0x001F, 0}));
  save("page.pdf", pdf(30, 20, cv::Rect(5, 5, 10, 10), {1, 0, 0}));
  const Blob apple = heic(pattern(64, 64));
  if (!apple.empty()) save("plain.heic", apple);
}

// What the server is sent by clients, upstreams and configuration files.
void served(const Save& save_as) {
  const auto save = [&](const std::string& name, const Blob& bytes) {
    save_as("request", name, bytes);
    save_as("relay", name, bytes);
  };
  const std::string start = R"({"messages":[{"role":"user","content":[)";
  const std::string words = R"({"type":"text","text":"a"}]}])";
  save("chat.json",
       text(start + R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)" +
            words + R"(,"mm_processor_kwargs":{"max_pixels":3}})"));
  save("responses.json",
       text(R"({"instructions":"b","store":false,"input":[{"role":"user","content":[)"
            R"({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},)"
            R"({"type":"input_text","text":"a"}]}]})"));
  save("messages.json",
       text(start +
            R"({"type":"image","source":{"type":"base64","media_type":"image/png",)"
            R"("data":"AAAA"}},)" +
            words + R"(,"max_tokens":3,"system":"s","stop_sequences":["x"]})"));
  save("ollama.json", text(R"({"messages":[{"role":"user","content":"a","images":["AAAA"]}],)"
                           R"("options":{"num_predict":3,"stop":"x"},"stream":false})"));
  save("generate.json", text(R"({"prompt":"a","images":["AAAA"],"system":"b"})"));
  save_as(
      "relay", "nested.json",
      text(R"({"model":"m","arrcoc":{"budget":3},"messages":[{"role":"user","content":[)"
           R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA","detail":"low"}},)"
           R"({"type":"tool_result","content":[{"type":"image","source":{"type":"url",)"
           R"("url":"file:///a"}}]}]}],"input":[{"type":"function_call_output","output":[)"
           R"({"type":"input_image","image_url":"i"}]}]})"));
  save_as("relay", "marked.json",
          text("\xef\xbb\xbf"
               R"({"prompt":"a","images":["AAAA"]})"));
}

// One byte for the dialect, one for the size of pieces.
void heard(const Save& save) {
  save("upstream", "chat",
       text(std::string("\0\5", 2) +
            R"(data: {"id":"a","choices":[{"delta":{"content":"hi"},"finish_reason":"length"}],)"
            R"("usage":{"prompt_tokens":5,"prompt_tokens_details":{"image_tokens":3}}})"
            "\n\n: keep-alive\n\ndata: [DONE]\n"));
  save("upstream", "responses",
       text("\1\5event: response.completed\n"
            R"(data: {"type":"response.completed","response":{"id":"r","status":"incomplete",)"
            R"("usage":{"input_tokens":5,"output_tokens":3}}})"
            "\n\n"));
  save("upstream", "messages",
       text("\2\5event: message_start\r\n"
            R"(data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":5,)"
            R"("cache_read_input_tokens":9,"cache_creation_input_tokens":9}}})"
            "\r\n\r\n"
            R"(data: {"type":"message_delta","delta":{"text":"a","stop_reason":"max_tokens"}})"
            "\r\n\r\n"));
  save("upstream", "ollama",
       text("\3\5"
            R"({"message":{"content":"a"},"done":false})"
            "\n"
            R"({"response":"b","done":true,"prompt_eval_count":5,"done_reason":"length"})"
            "\n"));
}

// The files of published sets, with the one beside it.
void published(const Save& save) {
  const auto save_set = [&](const char* name, const std::string& file, const std::string& beside) {
    save("items", name, text("\x1e\x1e\x1e" + file + "\x1e" + beside));
  };
  save_set("docvqa",
           R"({"data":[{"questionId":1,"question":"q?","question_types":["t"],"image":"a.png",)"
           R"("image_local_name":"a","image_id":"b","question_id":2,"answers":["one","1,000"]}]})",
           "");
  save_set("chartqa", R"([{"imgname":"a.png","query":"q?","label":"5%"}])", "");
  save_set("vqav2",
           R"({"data_subtype":"val2014","questions":[{"image_id":1,"question":"q?",)"
           R"("question_id":2}]})",
           R"({"annotations":[{"question_id":2,"answer_type":"o","answers":[{"answer":"two"},)"
           R"({"answer":"dont"},{"answer":"the 2."}]}]})");
  save_set("gqa",
           R"({"7":{"imageId":"n1","question":"q?","answer":"no","types":{"structural":"v"}}})",
           "");
  save_set(
      "refs",
      R"([{"ann_id":3,"image_id":1,"split":"testA","sentences":[{"sent_id":0,"sent":"lady"}]}])",
      R"({"images":[{"id":1,"file_name":"a","width":9,"height":9,"caption":"c"}],)"
      R"("annotations":[{"id":3,"image_id":1,"bbox":[1,1,3,3]}]})");
  save_set("mdetr",
           R"({"images":[{"id":1,"file_name":"a","width":9,"height":9,"caption":"c"}],)"
           R"("annotations":[{"id":3,"image_id":1,"bbox":[1,1,3,3]}]})",
           "");
  save_set("lines", R"({"image":"a","sent":"lady","bbox":[1,1,3,3],"width":9,"height":9})", "");
  save_set("vstar",
           R"({"image":"a","text":"q?\n(A) b\n(B) c\nAnswer.","category":"k","label":"B"})", "");
  save_set("hrbench",
           "index\tquestion\tanswer\tcategory\tA\tB\tcycle_category\timage\n"
           "0\t\"a \"\"b\"\"\nc?\"\tA\tsingle\tgo\tstop\t0\ta.jpg\n",
           "");
  save_set("msrvtt", R"([{"answer":"couch","id":1,"question":"what is it?","video_id":6513}])", "");
}

// One byte chooses the variable, or two the family and what it runs on.
void configured(const Save& save) {
  save("config", "file",
       text(R"(1{"host":"0.0.0.0","port":1,"threshold":null,"budget":64,"prices":["a=1"],)"
            R"("batching":true,"mode":"zoom","upstream":"http://x","upstream_budgets":["*=3"],)"
            R"("api_key":"k","log_days":1.5,"relevance":"clip"})"));
  save("config", "list", text("Xa=3,b=4"));
  save("config", "number",
       text("\1"
            "8080"));
  save(
      "processor", "patches",
      text(
          R"(00{"image_processor":{"image_processor_type":"Qwen2VLImageProcessor","patch_size":14,)"
          R"("merge_size":2,"size":{"shortest_edge":3136,"longest_edge":12845056},)"
          R"("min_pixels":3,"max_pixels":4}})"));
  save(
      "processor", "tiles",
      text(
          R"(90{"processor_class":"LlavaNextProcessor","patch_size":14,"size":{"shortest_edge":336},)"
          R"("image_grid_pinpoints":[[336,672],[672,336]],"vision_aspect_ratio":"anyres_max_9",)"
          R"("image_seq_len":169,"min_patches":1,"max_patches":12,"crop_to_patches":true,)"
          R"("do_pan_and_scan":true,"pan_and_scan_min_ratio_to_activate":1.2})"));
  save(
      "hub", "listing",
      text(
          R"(0{"sha":"0123456789abcdef0123456789abcdef01234567","siblings":[)"
          R"({"rfilename":"config.json","size":9,"blobId":"ce013625030ba8dba906f756967f9e9ca394464a"},)"
          R"({"rfilename":"a/model.safetensors","lfs":{"sha256":"","size":70000000000}}]})"));
  save("hub", "redirect", text("1https://cdn:8/a?b=c#d"));
  save("hub", "name", text("2acme/two.x@refs/pr/1"));
  const std::string item =
      R"({"id":"a_count_b","image":"a.png","width":9,"height":9,"question":"q","answer":"B",)"
      R"("answers":["b"],"answer_boxes":[[1,1,5,3]],"text_boxes":[{"box":[1,1,5,3],"text":"b c"}],)"
      R"("kind":"count","held":true,"fixations":[[1,2]],"gaze_boxes":[],"gaze_scores":[]})";
  save("items", "three",
       text(item + "\n\x1e"
                   R"({"image":"a.png","words":[[1,1,5,3,"b",90,[2.5],0],[5,1,9,3,"c",9]]})"
                   "\n\x1e"
                   R"({"image":"a.png","objects":[[1,1,5,3,"cat"]]})"));
  published(save);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds DIR\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const auto save = [&](const std::string& kind, const std::string& name, const Blob& bytes) {
    std::filesystem::create_directories(folder / kind);
    arrcoc::media::write_file((folder / kind / name).string(), bytes);
  };
  each_format(save);
  save("query", "money", text("What is the total of the invoice in $?"));
  save("query", "unicode", text("Wie groß ist das Café – heute, 14:30?"));
  save("query", "vague", text("describe this"));
  save("options", "default.json", text(arrcoc::to_json(arrcoc::AskOptions{})));
  save("options", "few.json",
       text(R"({"policy":"lexical","budget":"180","frame":512,"enlarge":true})"));
  served(save);
  heard(save);
  configured(save);
  save("safetensors", "two",
       weights(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
               R"("b":{"dtype":"I8","shape":[3],"data_offsets":[16,19]},)"
               R"("__metadata__":{"format":"pt"}})",
               19));
  save("safetensors", "empty", weights("{}", 0));
  save("tokenizer", "clip.json", text(arrcoc::small_tokenizers::clip().dump()));
  return 0;
}
