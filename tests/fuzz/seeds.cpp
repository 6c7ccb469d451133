// Writes small files of every format into a folder: fuzz_seeds DIR
#include <cstdio>
#include <filesystem>
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
  const auto text = [](const std::string& words) { return Blob(words.begin(), words.end()); };

  const cv::Mat picture = noise(19, 13, 1);
  const Blob jpeg = encoded(picture, ".jpg");
  const Blob webp = encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101});
  save("decode", "plain.jpg", jpeg);
  save("decode", "progressive.jpg", encoded(picture, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1}));
  save("decode", "turned.jpg", jpeg_with_exif(jpeg, exif(6, true)));
  save("decode", "cmyk.jpg",
       cmyk_jpeg(cv::Mat(9, 9, CV_8UC4, cv::Scalar(9, 99, 200, 30)), Inks::ycck));
  save("decode", "plain.png", encoded(picture, ".png"));
  save("decode", "turned.png", png_with_exif(encoded(picture, ".png"), exif(8, false), true));
  save("decode", "palette.png",
       png(4, 1, {{0b00011011}},
           {.colour_type = 3, .bits = 2, .palette = {{1, 2, 3}, {4, 5, 6}}, .transparent = {0}}));
  save("decode", "lossless.webp", webp);
  save("decode", "lossy.webp", encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 50}));
  save("decode", "turned.webp", webp_with_exif(webp, 19, 13, exif(3, false)));
  save("decode", "little.tiff", tiff(picture));
  save("decode", "big.tiff", tiff(picture, {.big_endian = true, .orientation = 5}));
  save("decode", "lzw.tiff", encoded(picture, ".tiff"));
  save("decode", "plain.bmp", encoded(picture, ".bmp"));
  save("decode", "os2.bmp", bmp(12, 2, 2, 8, 0, Blob(12, 7), {3, 0, 0, 0, 1, 2, 0, 0}));
  save("decode", "rle8.bmp",
       bmp(40, 2, 2, 8, 1, Blob(16, 7), {1, 3, 1, 0, 0, 0, 0, 3, 1, 2, 3, 0, 0, 1}));
  save("decode", "rle4.bmp",
       bmp(40, 2, 2, 4, 2, Blob(16, 7), {2, 0x30, 0, 2, 0, 1, 2, 0x12, 0, 1}));
  save("decode", "masks.bmp", bmp(108, 2, 2, 16, 3, {}, Blob(8, 9), {0xF800, 0x07E0, 0x001F, 0}));
  save("decode", "page.pdf", pdf(30, 20, cv::Rect(5, 5, 10, 10), {1, 0, 0}));
  const Blob apple = heic(pattern(64, 64));
  if (!apple.empty()) save("decode", "plain.heic", apple);

  save("query", "money", text("What is the total of the invoice in $?"));
  save("query", "unicode", text("Wie groß ist das Café – heute, 14:30?"));
  save("query", "vague", text("describe this"));
  save("options", "default.json", text(arrcoc::to_json(arrcoc::AskOptions{})));
  save("options", "few.json",
       text(R"({"policy":"lexical","budget":"180","frame":512,"enlarge":true})"));
  const std::string start = R"({"messages":[{"role":"user","content":[)";
  const std::string words = R"({"type":"text","text":"a"}]}])";
  save("request", "chat.json",
       text(start + R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},)" +
            words + R"(,"mm_processor_kwargs":{"max_pixels":3}})"));
  save("request", "responses.json",
       text(R"({"instructions":"b","store":false,"input":[{"role":"user","content":[)"
            R"({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},)"
            R"({"type":"input_text","text":"a"}]}]})"));
  save("request", "messages.json",
       text(start +
            R"({"type":"image","source":{"type":"base64","media_type":"image/png",)"
            R"("data":"AAAA"}},)" +
            words + R"(,"max_tokens":3,"system":"s","stop_sequences":["x"]})"));
  save("request", "ollama.json",
       text(R"({"messages":[{"role":"user","content":"a","images":["AAAA"]}],)"
            R"("options":{"num_predict":3,"stop":"x"},"stream":false})"));
  save("request", "generate.json", text(R"({"prompt":"a","images":["AAAA"],"system":"b"})"));
  save("safetensors", "two",
       weights(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
               R"("b":{"dtype":"I8","shape":[3],"data_offsets":[16,19]},)"
               R"("__metadata__":{"format":"pt"}})",
               19));
  save("safetensors", "empty", weights("{}", 0));
  save("tokenizer", "clip.json", text(arrcoc::small_tokenizers::clip().dump()));
  return 0;
}
