// arrcoc label: text lines, words and places of characters by OCR, so that pages without them teach
// reading.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "arrcoc/error.h"
#include "lab/cli/lab.h"
#include "lab/measure/lines.h"
#include "lab/train/real/labels.h"
#include "lab/train/real/words.h"
#include "media/codecs/headers.h"
#include "media/ocr/reader.h"

namespace arrcoc::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using measuring::Line;
using training::real::Word;

constexpr const char* kMaker = "arrcoc label";  // of lines of items.jsonl that nobody else wrote

struct Wanted {
  std::string folder;
  double min_confidence = 30;
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  bool json_out = false;
};

struct Page {
  std::string image;             // path from the folder
  int width = 0, height = 0;     // as items.jsonl says; 0: it does not name the picture
  std::vector<Word> text_lines;  // that somebody wrote down
  std::string item, words;       // lines of items.jsonl (pictures it does not name) and words.jsonl
  bool known = false;            // words.jsonl had it before
};

struct Count {
  size_t pictures = 0, known = 0, read = 0, empty = 0, left_out = 0;
  size_t words = 0, sure = 0, characters = 0;
};

// Every picture below the folder, by name; hidden files are not looked at.
std::vector<std::string> pictures_below(const fs::path& folder) {
  static const std::set<std::string> kEndings = {".jpg",  ".jpeg", ".png",  ".webp", ".tif",
                                                 ".tiff", ".bmp",  ".heic", ".pdf"};
  std::vector<std::string> out;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::end(at); ++at) {
    const std::string name = at->path().filename().string();
    if (name.rfind('.', 0) == 0) {
      if (at->is_directory()) at.disable_recursion_pending();
      continue;
    }
    std::string ending = at->path().extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (at->is_regular_file() && kEndings.count(ending) > 0)
      out.push_back(fs::relative(at->path(), folder).generic_string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The pictures that items*.jsonl names. Where there is no such file, or only the one that was made
// here before: every picture of the folder.
std::vector<Page> pages_of(const std::string& folder) {
  std::vector<Page> pages;
  std::map<std::string, size_t> number;
  bool bare = true;
  const auto page = [&](const std::string& image) -> Page& {
    const auto [found, fresh] = number.emplace(image, pages.size());
    if (fresh) pages.emplace_back().image = image;
    return pages[found->second];
  };
  for (const std::string& file : measuring::line_files(folder, "items"))
    measuring::each_line(file, [&](const Line& line) {
      Page& one = page(line.text("image"));
      one.width = line.size("width");
      one.height = line.size("height");
      for (Word& words : training::real::text_lines(line)) one.text_lines.push_back(words);
      if (line.text_or_none("made_by") == kMaker)
        one.item = line.object().dump();
      else
        bare = false;
    });
  if (bare)
    for (const std::string& image : pictures_below(folder)) page(image);
  if (pages.empty()) throw Error(ErrorCode::not_found, "no pictures in '" + folder + "'");
  return pages;
}

void read_known(const std::string& folder, std::vector<Page>& pages) {
  std::map<std::string, Page*> by_image;
  for (Page& page : pages) by_image[page.image] = &page;
  const std::string own = (fs::path(folder) / "words.jsonl").string();
  for (const std::string& file : measuring::line_files(folder, "words"))
    measuring::each_line(file, [&](const Line& line) {
      training::real::words_in(line);  // refuses what the trainer would refuse
      const auto found = by_image.find(line.text("image"));
      if (found == by_image.end()) return;
      found->second->known = true;
      if (file == own) found->second->words = line.object().dump();
    });
}

// The picture as the trainer will see it, which knows two formats and no EXIF.
Picture load_for_training(const std::string& path, const Page& page) {
  const std::vector<uint8_t> bytes = media::read_file(path);
  const media::Probe probe = media::probe(bytes, path);
  if (probe.format != media::Format::jpeg && probe.format != media::Format::png)
    throw Error(ErrorCode::unsupported, path + ": the trainer reads JPEG and PNG; convert it");
  if (media::orientation_of(media::Bytes(bytes), probe.format) != 1)
    throw Error(ErrorCode::unsupported, path + ": EXIF turns it; store it upright");
  Picture picture = media::decode(bytes, path);
  if (page.width > 0 && (picture.width() != page.width || picture.height() != page.height))
    throw Error(ErrorCode::bad_image, path + ": " + std::to_string(picture.width()) + "x" +
                                          std::to_string(picture.height()) +
                                          " pixels, items.jsonl says otherwise");
  return picture;
}

std::vector<Word> read_words(const Picture& picture, double min_confidence) {
  std::vector<Word> out;
  for (media::Spelled& spelled : media::spell(picture)) {
    const arrcoc::Word& word = spelled.word;
    const float confidence = 100 * word.confidence;
    if (confidence >= min_confidence)
      out.push_back({word.box, word.text, confidence, std::move(spelled.centres), -1});
  }
  return out;
}

class Labelling {
 public:
  Labelling(const Wanted& wanted, std::vector<Page> pages)
      : wanted_(wanted), pages_(std::move(pages)) {
    count_.pictures = pages_.size();
    for (const Page& page : pages_) count_.known += page.known;
  }

  Count run() {
    Progress progress("labelling", pages_.size());
    progress.skip(count_.known);
    progress_ = &progress;
    saved_ = Clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < wanted_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (problem_) std::rethrow_exception(problem_);
    save();
    return count_;
  }

 private:
  void work() {
    try {
      for (size_t i = next_++; i < pages_.size() && !stop_; i = next_++)
        if (!pages_[i].known) label(pages_[i]);
    } catch (...) {  // not of one picture: no OCR data, a full disk
      const std::scoped_lock lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      stop_ = true;
    }
  }

  void label(Page& page) {
    std::optional<Picture> picture;
    try {
      picture = load_for_training((fs::path(wanted_.folder) / page.image).string(), page);
    } catch (const Error& why) {
      const std::scoped_lock lock(mutex_);
      std::cerr << "arrcoc: left out: " << why.what() << std::endl;
      ++count_.left_out;
      progress_->step();
      return;
    }
    std::vector<Word> words = read_words(*picture, wanted_.min_confidence);
    if (!page.text_lines.empty()) words = training::real::agreed(words, page.text_lines);
    // Sparse text has no lines of its own: words at one height make a line.
    training::real::arrange(words);
    json rows = json::array();
    for (const Word& word : words) rows.push_back(training::real::row_of(word));
    const std::scoped_lock lock(mutex_);
    page.words = json{{"image", page.image}, {"words", std::move(rows)}}.dump();
    if (page.width == 0)
      page.item = ordered_json{
          {"id", page.image},
          {"image", page.image},
          {"width", picture->width()},
          {"height", picture->height()},
          {"question", ""},
          {"kind", "text"},
          {"made_by",
           kMaker}}.dump();
    add_up(words);
    progress_->step();
    // Written anew each time: seldom enough to cost a twentieth of the time.
    if (Clock::now() - saved_ > std::max<Clock::duration>(std::chrono::seconds(5), 20 * writing_))
      save();
  }

  void add_up(const std::vector<Word>& words) {
    ++count_.read;
    count_.empty += words.empty();
    count_.words += words.size();
    for (const Word& word : words)
      if (word.confidence >= training::real::kSure) {
        ++count_.sure;
        count_.characters += word.centres.size();
      }
  }

  // Each file whole or not at all; a picture without words is read again next time.
  void save() {
    const auto begun = Clock::now();
    std::string items, words;
    for (const Page& page : pages_) {
      if (!page.item.empty()) items += page.item + "\n";
      if (!page.words.empty()) words += page.words + "\n";
    }
    if (!items.empty()) write_text((fs::path(wanted_.folder) / "items.jsonl").string(), items);
    if (!words.empty()) write_text((fs::path(wanted_.folder) / "words.jsonl").string(), words);
    saved_ = Clock::now();
    writing_ = saved_ - begun;
  }

  const Wanted& wanted_;
  std::vector<Page> pages_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // of all below
  Progress* progress_ = nullptr;
  Count count_;
  Clock::time_point saved_;
  Clock::duration writing_{};
  std::exception_ptr problem_;
};

void label(const Wanted& wanted) {
  if (!fs::is_directory(wanted.folder))
    throw Error(ErrorCode::not_found, "no folder '" + wanted.folder + "'");
  std::vector<Page> pages = pages_of(wanted.folder);
  read_known(wanted.folder, pages);
  const std::string file = (fs::path(wanted.folder) / "words.jsonl").string();
  require_writable(file);
  const auto begun = Clock::now();
  const Count count = Labelling(wanted, std::move(pages)).run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  if (count.left_out == count.pictures)
    throw Error(ErrorCode::bad_image, "none of the " + std::to_string(count.pictures) +
                                          " pictures in '" + wanted.folder + "' could be read");
  if (wanted.json_out) {
    std::cout << ordered_json{{"pictures", count.pictures},  {"known_before", count.known},
                              {"read", count.read},          {"without_words", count.empty},
                              {"left_out", count.left_out},  {"words", count.words},
                              {"sure_words", count.sure},    {"characters", count.characters},
                              {"seconds", rounded(seconds)}, {"file", file}}
              << "\n";
    return;
  }
  std::cout << file << ": " << count.pictures << " pictures, " << count.read << " read now ("
            << count.empty << " without a word), " << count.known << " before, " << count.left_out
            << " left out; " << count.words << " words, " << count.sure << " of them sure, "
            << count.characters << " characters placed in " << fixed(seconds, 1) << " s\n";
}

}  // namespace

void add_label(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("label", "text lines and places of characters by OCR, for training");
  auto wanted = std::make_shared<Wanted>();
  command->add_option("folder", wanted->folder, "pictures, with or without items.jsonl")
      ->required();
  command
      ->add_option("--min-confidence", wanted->min_confidence,
                   "words that OCR is less sure of are left out, 0 to 100")
      ->check(between(0, 100));
  command->add_option("--threads", wanted->threads, "pictures read at once")
      ->check(CLI::Range(1, 256));
  command->add_flag("--json", wanted->json_out, "result as JSON");
  command->callback([wanted] { label(*wanted); });
}

}  // namespace arrcoc::cli
