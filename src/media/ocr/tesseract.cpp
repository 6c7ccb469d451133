// Words by Tesseract (libtesseract, English, LSTM).
#include <dlfcn.h>
#include <leptonica/allheaders.h>
#include <tesseract/baseapi.h>
#include <tesseract/ocrclass.h>
#include <tesseract/resultiterator.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/ocr/reader.h"
#include "media/ocr/tesseract_page.h"
#include "media/pool.h"

namespace arrcoc::media {
namespace {

constexpr size_t kRemembered = 64;  // pictures whose words are kept
// Lines and parts of lines on one sheet: the densest of 120 scans has 334, a ground of dots
// thousands. What Tesseract does with paragraphs takes their number cubed: 9 s for 1000.
constexpr int kManyPieces = 500;
constexpr int kMostPieces = 1000;
constexpr int kLetterPixels = 400;             // of a sheet; print takes twice as many a letter
constexpr std::chrono::seconds kMostTime(60);  // of processor time for the words of one sheet

// Tesseract splits small matrix products over four OpenMP threads that mostly wait for each other:
// three times the processor time for nothing. OMP_THREAD_LIMIT is read when the OpenMP library is
// loaded, too early for us; this setting holds for the calling thread only.
void keep_openmp_serial() {
  using Set = void (*)(int);
  if (auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_max_active_levels"))) set(0);
}

std::unique_ptr<tesseract::TessBaseAPI> make_engine() {
  setMsgSeverity(L_SEVERITY_NONE);
  auto engine = std::make_unique<tesseract::TessBaseAPI>();
  engine->SetVariable("debug_file", "/dev/null");
  if (engine->Init(nullptr, "eng", tesseract::OEM_LSTM_ONLY) != 0) {
    throw Error(ErrorCode::not_found,
                "Tesseract finds no English data (eng.traineddata): install the Debian package "
                "tesseract-ocr-eng or set TESSDATA_PREFIX to the folder that holds it");
  }
  // Sauvola: faint and dark print on one page. Sparse text: labels of charts and cells of forms
  // are found as well as lines of prose.
  engine->SetVariable("thresholding_method", "2");
  engine->SetPageSegMode(tesseract::PSM_SPARSE_TEXT);
  return engine;
}

size_t code_points(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Centres of the symbols of the word that the iterator stands at. A symbol of several code points
// (a ligature) is shared out evenly.
std::vector<float> centres_of(const tesseract::ResultIterator& at, const std::string& word,
                              float scale) {
  std::vector<float> out;
  tesseract::ResultIterator symbol(at);
  std::string spelled;
  do {
    const std::unique_ptr<char[]> text(symbol.GetUTF8Text(tesseract::RIL_SYMBOL));
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (text == nullptr || !symbol.BoundingBox(tesseract::RIL_SYMBOL, &x0, &y0, &x1, &y1))
      return {};
    spelled += text.get();
    const size_t count = std::max<size_t>(1, code_points(text.get()));
    const float wide = static_cast<float>(x1 - x0) / static_cast<float>(count);
    for (size_t i = 0; i < count; ++i)
      out.push_back((static_cast<float>(x0) + (static_cast<float>(i) + 0.5F) * wide) / scale);
  } while (symbol.Next(tesseract::RIL_SYMBOL) && !symbol.IsAtBeginningOf(tesseract::RIL_WORD));
  return spelled == word && out.size() == code_points(word) ? out : std::vector<float>();
}

// More marks than letters have room on the sheet.
bool crowded(tesseract::TessBaseAPI& engine, const OcrSheet& sheet) {
  Pix* marks = engine.GetThresholdedImage();
  l_int32 count = 0;
  if (marks != nullptr) pixCountConnComp(marks, 8, &count);
  pixDestroy(&marks);
  return static_cast<size_t>(count) > sheet.ink.total() / kLetterPixels;
}

// Processor time of this thread: a busy machine leaves a page all its words.
std::chrono::nanoseconds worked() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Asked before each piece is read: enough? The monitor's own deadline would come before the count.
struct Bound {
  int most = kMostPieces;
  std::chrono::nanoseconds until = worked() + kMostTime;
  bool exceeded = false;
  static bool stop(void* self, int pieces) {
    auto* bound = static_cast<Bound*>(self);
    bound->exceeded = pieces > bound->most;
    return bound->exceeded || worked() > bound->until;
  }
};

// The words of one sheet, in picture pixels: those found in time. None at all where the page falls
// into more pieces than can be read.
struct Reading {
  std::vector<Spelled> words;
  bool dots = false;  // nothing is read: its ground is made of dots
};
Reading read_sheet(tesseract::TessBaseAPI& engine, const OcrSheet& sheet) {
  engine.SetImage(sheet.ink.data, sheet.ink.cols, sheet.ink.rows, 1,
                  static_cast<int>(sheet.ink.step));
  engine.SetSourceResolution(300);
  const bool dots = crowded(engine, sheet);
  Bound bound;
  if (dots) bound.most = kManyPieces;
  tesseract::ETEXT_DESC monitor;
  monitor.cancel = Bound::stop;
  monitor.cancel_this = &bound;
  Reading found;
  engine.Recognize(&monitor);
  if (bound.exceeded) {
    engine.Clear();
    found.dots = dots;
    return found;
  }
  const std::unique_ptr<tesseract::ResultIterator> it(engine.GetIterator());
  int line = -1, block = -1;
  if (it != nullptr && !it->Empty(tesseract::RIL_WORD)) {
    do {
      if (it->IsAtBeginningOf(tesseract::RIL_BLOCK)) ++block;
      if (it->IsAtBeginningOf(tesseract::RIL_TEXTLINE)) ++line;
      const std::unique_ptr<char[]> text(it->GetUTF8Text(tesseract::RIL_WORD));
      int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
      if (text == nullptr || !it->BoundingBox(tesseract::RIL_WORD, &x0, &y0, &x1, &y1)) continue;
      Word word;
      word.text = text.get();
      if (word.text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
      word.box = {
          static_cast<float>(x0) / sheet.scale, static_cast<float>(y0) / sheet.scale + sheet.top,
          static_cast<float>(x1) / sheet.scale, static_cast<float>(y1) / sheet.scale + sheet.top};
      const float middle = 0.5F * (word.box.y0 + word.box.y1);
      if (middle < sheet.from || middle >= sheet.to) continue;
      word.confidence = std::clamp(it->Confidence(tesseract::RIL_WORD) / 100, 0.0F, 1.0F);
      word.line = line;
      word.block = block;
      std::vector<float> centres = centres_of(*it, word.text, sheet.scale);
      found.words.push_back({std::move(word), std::move(centres)});
    } while (it->Next(tesseract::RIL_WORD));
  }
  engine.Clear();
  return found;
}

class Tesseract : public WordSource {
 public:
  std::vector<Word> read(const Picture& picture) const override {
    std::vector<Word> words;
    for (Spelled& spelled : spell(picture)) words.push_back(std::move(spelled.word));
    return words;
  }

  // What stands on dots is read once they are smoothed away.
  std::vector<Spelled> spell(const Picture& picture) const {
    std::vector<Reading> found = read_sheets(sheets_of(picture));
    if (std::any_of(found.begin(), found.end(), [](const Reading& part) { return part.dots; }))
      found = read_sheets(sheets_without_dots(picture));
    return join(found, picture);
  }

 private:
  // One thread a sheet: recognition takes nearly all the time and the sheets are independent.
  std::vector<Reading> read_sheets(const std::vector<OcrSheet>& sheets) const {
    std::vector<std::future<Reading>> parts;
    for (const OcrSheet& sheet : sheets) {
      parts.push_back(std::async(std::launch::async, [&] {
        keep_openmp_serial();
        return read_sheet(*engines_.borrow(), sheet);
      }));
    }
    std::vector<Reading> found;
    for (auto& part : parts) found.push_back(part.get());
    return found;
  }

  // Lines and blocks are numbered through; boxes end at the picture's edge.
  static std::vector<Spelled> join(std::vector<Reading>& found, const Picture& picture) {
    const Box all{0, 0, static_cast<float>(picture.width()), static_cast<float>(picture.height())};
    std::vector<Spelled> words;
    int line = 0, block = 0;
    for (Reading& part : found) {
      int lines = 0, blocks = 0;
      for (Spelled& spelled : part.words) {
        Word& word = spelled.word;
        lines = std::max(lines, word.line + 1);
        blocks = std::max(blocks, word.block + 1);
        word.line += line;
        word.block += block;
        word.box = intersect(word.box, all);
        if (word.box.area() > 0) words.push_back(std::move(spelled));
      }
      line += lines;
      block += blocks;
    }
    return words;
  }

  mutable Pool<tesseract::TessBaseAPI> engines_{
      make_engine, std::clamp<size_t>(std::thread::hardware_concurrency(), 2, 8)};
};

std::shared_ptr<const Tesseract> engine() {
  static const auto one = std::make_shared<const Tesseract>();
  return one;
}

}  // namespace

std::vector<Spelled> spell(const Picture& picture) { return engine()->spell(picture); }

std::shared_ptr<const WordSource> tesseract() {
  static const std::shared_ptr<const WordSource> source = remembering(engine(), kRemembered);
  return source;
}

}  // namespace arrcoc::media
