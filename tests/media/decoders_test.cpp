// Decoding in other processes: the same pictures, and nothing that a file does reaches this one.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <thread>

#include "arrcoc/error.h"
#include "folder.h"
#include "media/bombs.h"
#include "processes.h"

using namespace arrcoc;
using namespace pictures;
using arrcoc::test::children_named;
using arrcoc::test::kSanitized;
using arrcoc::test::peak_kb;

namespace {

constexpr const char* kProgram = "arrcoc-decode";

media::DecoderLimits quick() {
  media::DecoderLimits limits;
  limits.seconds = 1;
  return limits;
}

media::LoadOptions apart(media::DecoderLimits limits = {}) {
  media::LoadOptions options;
  options.apart = std::make_shared<media::Decoders>(limits);
  return options;
}

// The error of decoding, or nothing when there is a picture.
std::optional<ErrorCode> outcome(const Blob& file, const media::LoadOptions& options) {
  try {
    media::decode(file, "file", options);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("file: ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return error.code();
  }
}

const Blob& small() {
  static const Blob file = encoded(pattern(40, 30), ".png");
  return file;
}

}  // namespace

TEST(Decoders, GiveThePixelsThatThisProcessWouldGive) {
  const cv::Mat picture = noise(317, 211, 4);
  const std::vector<std::pair<std::string, Blob>> files = {
      {"jpeg", encoded(picture, ".jpg")},
      {"progressive", encoded(picture, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1})},
      {"turned", jpeg_with_exif(encoded(picture, ".jpg"), exif(6, true))},
      {"cmyk", cmyk_jpeg(cv::Mat(30, 50, CV_8UC4, cv::Scalar(9, 80, 3, 60)), Inks::ycck)},
      {"png", encoded(picture, ".png")},
      {"webp", encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 80})},
      {"tiff", tiff(picture)},
      {"lzw", encoded(picture, ".tiff")},
      {"bmp", encoded(picture, ".bmp")},
      {"heic", heic(pattern(128, 64))},
      {"pdf", pdf(60, 40, cv::Rect(5, 5, 20, 20), {1, 0, 0})}};
  const media::LoadOptions options = apart();
  for (const auto& [name, file] : files) {
    if (file.empty()) continue;
    const Picture here = media::decode(file, name);
    const Picture there = media::decode(file, name, options);
    EXPECT_EQ(difference(pixels(here), pixels(there)), 0) << name;
    EXPECT_EQ(here.digest, there.digest) << name;
    EXPECT_EQ(there.source, name);
  }
  EXPECT_EQ(options.apart->restarts(), 0);
}

// Text in fonts that a PDF names but does not hold: the process may read these, and no more.
TEST(Decoders, FontsOfTheSystemAreFound) {
  const media::LoadOptions options = apart();
  const Blob page = pdf_file(
      {"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
       "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << "
       "/F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
       stream("", "BT /F 24 Tf 5 40 Td (Total) Tj ET")});
  const Picture here = media::decode(page, "page"), there = media::decode(page, "page", options);
  EXPECT_EQ(here.digest, there.digest);
  EXPECT_LT(cv::mean(pixels(here))[0], 254) << "no words at all";
}

TEST(Decoders, SayTheSameAboutBadFiles) {
  const media::LoadOptions options = apart();
  const auto words = [](const Blob& file, const media::LoadOptions& how) -> std::string {
    try {
      media::decode(file, "holiday.jpg", how);
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + " " + error.what();
    }
    return "";
  };
  Blob cut = encoded(noise(80, 80, 1), ".jpg");
  cut.resize(cut.size() / 2);
  for (const Blob& file : {Blob{}, Blob{'x'}, cut, png_claiming(60000, 60000)}) {
    EXPECT_EQ(words(file, options), words(file, {}));
    EXPECT_NE(words(file, options), "");
  }
  media::LoadOptions third = options;
  third.page = 3;
  EXPECT_EQ(outcome(pdf(60, 40, cv::Rect(5, 5, 20, 20), {1, 0, 0}), third), ErrorCode::not_found);
  EXPECT_EQ(options.apart->restarts(), 0);
}

TEST(Decoders, LimitsOfTheCodecsHoldInThisProcessToo) {
  const std::vector<Bomb> all = bombs();
  const long before = peak_kb(::getpid());
  media::LoadOptions options;
  options.max_megapixels = 50;
  for (const Bomb& bomb : all) {
    if (bomb.fate == Fate::harmless) {
      EXPECT_EQ(outcome(bomb.file, options), std::nullopt) << bomb.name;
    } else if (bomb.fate == Fate::refused) {
      EXPECT_NE(outcome(bomb.file, options), std::nullopt) << bomb.name;
    }
  }
  // The coefficients of the JPEG are the most that any of them needs: 98 MB, and 147 of planes.
  if (!kSanitized) {
    EXPECT_LT(peak_kb(::getpid()) - before, 320 << 10);
  }
}

TEST(Decoders, BombsCostTheirOwnProcessAlone) {
  media::LoadOptions options = apart(quick());
  options.max_megapixels = 50;
  const std::vector<Bomb> all = bombs();
  const long before = peak_kb(::getpid());
  for (const Bomb& bomb : all) {
    const auto code = outcome(bomb.file, options);
    if (bomb.fate == Fate::harmless) {
      EXPECT_EQ(code, std::nullopt) << bomb.name;
    } else {
      EXPECT_TRUE(code == ErrorCode::bad_image || code == ErrorCode::too_large ||
                  code == ErrorCode::unsupported)
          << bomb.name << (code ? to_string(*code) : " was decoded");
    }
    EXPECT_EQ(outcome(small(), options), std::nullopt) << "after " << bomb.name;
  }
  if (!kSanitized) {
    EXPECT_LT(peak_kb(::getpid()) - before, 50 << 10);
  }
  EXPECT_GE(options.apart->restarts(), 2) << "the slow ones";
}

TEST(Decoders, MemoryIsLimitedByPicture) {
  media::DecoderLimits limits;
  limits.megabytes = 64;
  const media::LoadOptions options = apart(limits);
  const Blob large = encoded(cv::Mat(6000, 6000, CV_8UC1, cv::Scalar(7)), ".png");
  // Sanitizers need terabytes of addresses: there the limit is off, and nothing is refused.
  const auto refused = kSanitized ? std::nullopt : std::optional(ErrorCode::too_large);
  EXPECT_EQ(outcome(large, options), refused) << "108 MB of planes in 64";
  EXPECT_EQ(outcome(small(), options), std::nullopt);
  EXPECT_EQ(outcome(large, apart()), std::nullopt);
}

TEST(Decoders, AProcessThatIsKilledIsReplacedAndThePictureDecoded) {
  const media::LoadOptions options = apart();
  EXPECT_EQ(outcome(small(), options), std::nullopt);
  const std::vector<pid_t> first = children_named(kProgram);
  ASSERT_EQ(first.size(), 1U);
  ::kill(first[0], SIGKILL);
  EXPECT_EQ(outcome(small(), options), std::nullopt);
  EXPECT_EQ(options.apart->restarts(), 1);
  const std::vector<pid_t> second = children_named(kProgram);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(second, first);
}

TEST(Decoders, KillsDuringLoadLoseNoPicture) {
  media::DecoderLimits limits;
  limits.processes = 2;
  const media::LoadOptions options = apart(limits);
  const Blob file = encoded(noise(600, 500, 2), ".png");
  const auto digest = media::decode(file).digest;
  constexpr int kClients = 4;
  constexpr size_t kKills = 8;
  std::atomic<int> good{0}, done[kClients] = {};
  std::atomic<bool> enough{false};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c)
    clients.emplace_back([&, c] {
      for (; !enough; ++done[c]) {
        try {
          good += media::decode(file, "file", options).digest == digest;
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
  // A picture is tried twice: the next kill waits until everybody has got the one that was being
  // decoded during the last.
  int before[kClients] = {};
  const auto wait_for_all = [&] {
    for (int c = 0; c < kClients; ++c)
      while (done[c] <= before[c]) std::this_thread::yield();
  };
  for (size_t kills = 0; kills < kKills;) {
    wait_for_all();
    const std::vector<pid_t> processes = children_named(kProgram);
    if (processes.empty()) continue;
    const pid_t killed = processes[kills++ % processes.size()];
    ::kill(killed, SIGKILL);
    const auto dead = [&] {  // on a busy machine that takes a while
      const std::string state = arrcoc::test::status_line(killed, "State");
      return state == "0" || state.find('Z') != std::string::npos;
    };
    while (!dead()) std::this_thread::yield();
    std::copy(std::begin(done), std::end(done), before);
  }
  wait_for_all();
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, std::accumulate(std::begin(done), std::end(done), 0));
}

TEST(Decoders, DecodingThatNobodyWaitsForEnds) {
  media::DecoderLimits limits;
  limits.seconds = 300;
  media::LoadOptions options = apart(limits);
  std::atomic<int> asked{0};
  options.given_up = [&] { return ++asked > 3; };
  EXPECT_EQ(outcome(pdf_of_forms(18, 10), options), ErrorCode::io);
  EXPECT_TRUE(children_named(kProgram).empty());
  options.given_up = {};
  EXPECT_EQ(outcome(small(), options), std::nullopt);
}

TEST(Decoders, ProcessesAreReplacedAfterSomePicturesAndEndWithThePool) {
  media::DecoderLimits limits;
  limits.pictures = 2;
  {
    const media::LoadOptions options = apart(limits);
    EXPECT_TRUE(children_named(kProgram).empty()) << "started before there is a picture";
    options.apart->warm_up();
    const std::vector<pid_t> first = children_named(kProgram);
    ASSERT_EQ(first.size(), 1U);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(outcome(small(), options), std::nullopt);
    EXPECT_EQ(children_named(kProgram), first);
    EXPECT_EQ(outcome(small(), options), std::nullopt);
    EXPECT_NE(children_named(kProgram), first);
    EXPECT_EQ(options.apart->restarts(), 0);
  }
  EXPECT_TRUE(children_named(kProgram).empty());
}

TEST(Decoders, AProcessHasNothingButItsSocketAndCannotReachAnything) {
  const std::ifstream inherited(std::string(ARRCOC_SOURCE_DIR) + "/README.md");
  ::setenv("ARRCOC_SECRET", "key", 1);
  const media::LoadOptions options = apart();
  EXPECT_EQ(outcome(small(), options), std::nullopt);
  ::unsetenv("ARRCOC_SECRET");
  const std::vector<pid_t> processes = children_named(kProgram);
  ASSERT_EQ(processes.size(), 1U);
  const std::string proc = "/proc/" + std::to_string(processes[0]);
  size_t open = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(proc + "/fd")) ++open;
  EXPECT_EQ(open, 5U);
  std::ifstream environment(proc + "/environ");
  const std::string all{std::istreambuf_iterator<char>(environment), {}};
  EXPECT_EQ(all.find("ARRCOC_SECRET"), std::string::npos);
  std::ifstream status(proc + "/status");
  const std::string words{std::istreambuf_iterator<char>(status), {}};
  // What is not confined is said so: sanitizers need system calls of their own.
  const bool confined = options.apart->unconfined().empty();
  if (kSanitized) EXPECT_FALSE(confined);
  EXPECT_EQ(words.find("NoNewPrivs:\t1") != std::string::npos, !kSanitized);
  if (confined) EXPECT_NE(words.find("Seccomp:\t2"), std::string::npos);
}

namespace {

std::vector<std::array<uint8_t, 32>> frames_of(const std::string& path,
                                               const media::LoadOptions& options) {
  media::Video film = media::Video::open(path, options);
  std::vector<std::array<uint8_t, 32>> out;
  while (const auto frame = film.read()) out.push_back(frame->picture().digest);
  EXPECT_EQ(film.ending(), "");
  return out;
}

}  // namespace

TEST(Decoders, FilmsHaveTheirOwnProcessAndTheSameFrames) {
  const arrcoc::test::Folder folder;
  std::string path;
  media::LoadOptions options = apart();
  for (const char* name : {"film.mp4", "film.avi"}) {
    path = folder / name;
    media::VideoWriter writer(path, 10);
    for (int i = 0; i < 5; ++i)
      writer.write(media::decode(encoded(noise(96, 64, 70 + i), ".png")).rgb);
    writer.finish();
    EXPECT_EQ(frames_of(path, options), frames_of(path, {})) << name;
  }
  EXPECT_TRUE(children_named("arrcoc-decode-f").empty());

  {
    media::Video film = media::Video::open(path, options);
    const std::vector<pid_t> processes = children_named("arrcoc-decode-f");  // as Linux cuts it
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_TRUE(film.read());
    ::kill(processes[0], SIGKILL);
    EXPECT_FALSE(film.read());
    EXPECT_NE(film.ending(), "");
  }
  media::write_file(path, Blob(5000, 'x'));
  EXPECT_THROW(media::Video::open(path, options), Error);
  options.max_megapixels = 0.001;
  EXPECT_THROW(frames_of(path, options), Error);
}

TEST(Decoders, AFilmWhoseProcessHangsEnds) {
  const arrcoc::test::Folder folder;
  media::VideoWriter writer(folder / "film.avi", 10);
  for (int i = 0; i < 3; ++i) writer.write(media::decode(small()).rgb);
  writer.finish();
  media::DecoderLimits limits;
  limits.seconds = .5;
  media::Video film = media::Video::open(folder / "film.avi", apart(limits));
  EXPECT_TRUE(film.read());
  const std::vector<pid_t> processes = children_named("arrcoc-decode-f");
  ASSERT_EQ(processes.size(), 1U);
  ::kill(processes[0], SIGSTOP);
  EXPECT_FALSE(film.read());
  EXPECT_NE(film.ending(), "");
  EXPECT_TRUE(children_named("arrcoc-decode-f").empty());
}

TEST(Decoders, WithoutTheProgramThereAreNone) {
  media::DecoderLimits limits;
  limits.program = "/nowhere/arrcoc-decode";
  EXPECT_THROW(media::Decoders{limits}, Error);
  limits.program = "/bin/true";
  const media::LoadOptions options = apart(limits);
  EXPECT_THROW(options.apart->warm_up(), Error);
}
