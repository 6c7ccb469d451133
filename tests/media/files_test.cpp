// Files are read whole or not at all, and written whole or not at all.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "media/pictures.h"

using namespace arrcoc;
using namespace pictures;
namespace fs = std::filesystem;

namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "arrcoc-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

ErrorCode code_of(const std::function<void()>& action, const std::string& mentions) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(mentions), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::numeric;
}

at::Tensor rgb(const cv::Mat& picture) { return media::decode(encoded(picture, ".png")).rgb; }

}  // namespace

TEST_F(Files, WhatIsWrittenIsRead) {
  const Blob bytes{1, 2, 3, 0, 255};
  media::write_file(path("a"), bytes);
  EXPECT_EQ(media::read_file(path("a")), bytes);
  media::write_file(path("a"), {});
  EXPECT_TRUE(media::read_file(path("a")).empty());
  EXPECT_EQ(entries(), 1U) << "a temporary file was left behind";
}

TEST_F(Files, MissingFilesAndFoldersAreNamed) {
  EXPECT_EQ(code_of([&] { media::read_file(path("none.png")); }, "none.png"), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { media::load(path("none.png")); }, "none.png"), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { media::read_file(folder_.string()); }, folder_.string()), ErrorCode::io);
  EXPECT_EQ(code_of([&] { media::write_file(path("no/such/x.png"), {1}); }, "x.png"),
            ErrorCode::io);
  EXPECT_EQ(code_of([&] { media::write_file(folder_.string(), {1}); }, folder_.string()),
            ErrorCode::io);
}

TEST_F(Files, TheSizeLimitHolds) {
  media::write_file(path("big"), Blob(5000, 1));
  EXPECT_EQ(media::read_file(path("big"), 5000).size(), 5000U);
  EXPECT_EQ(code_of([&] { media::read_file(path("big"), 4999); }, "big"), ErrorCode::too_large);
  EXPECT_EQ(code_of([&] { media::read_file("/dev/zero", 100000); }, "/dev/zero"),
            ErrorCode::too_large);
}

TEST_F(Files, PipesAreReadToTheirEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Blob bytes(300000, 7);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(path("pipe").c_str(), O_WRONLY);
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
      if (n <= 0) ::_exit(1);
      done += static_cast<size_t>(n);
    }
    ::_exit(0);
  }
  EXPECT_EQ(media::read_file(path("pipe")), bytes);
}

TEST_F(Files, AFailedWriteLeavesNothing) {
  media::write_file(path("file"), {1});
  // "file" is no folder, so nothing can be created below it, whoever runs the test.
  EXPECT_EQ(code_of([&] { media::write_file(path("file/x.png"), {2}); }, "x.png"), ErrorCode::io);
  EXPECT_EQ(media::read_file(path("file")), Blob{1});
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AFullDiskIsReportedAndTheDeviceStays) {
  EXPECT_EQ(code_of([] { media::write_file("/dev/full", Blob(100, 1)); }, "No space left"),
            ErrorCode::io);
  struct stat status {};
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(Files, AWriteThatFailsHalfwayKeepsTheOldFile) {
  media::write_file(path("kept.png"), {9, 9});
  // A file-size limit makes the write of the temporary file fail after the first bytes.
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    try {
      media::write_file(path("kept.png"), Blob(100000, 1));
    } catch (const Error& error) {
      ::_exit(error.code() == ErrorCode::io ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(media::read_file(path("kept.png")), (Blob{9, 9}));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AReaderNeverSeesHalfAFile) {
  media::write_file(path("f"), Blob(100, 1));
  const int reader = ::open(path("f").c_str(), O_RDONLY);
  media::write_file(path("f"), Blob(200, 2));
  Blob seen(300);
  const ssize_t n = ::read(reader, seen.data(), seen.size());
  ::close(reader);
  EXPECT_EQ(n, 100);  // the old file, whole
  EXPECT_EQ(media::read_file(path("f")), Blob(200, 2));
}

TEST_F(Files, LinksAndModesSurvive) {
  media::write_file(path("target"), {1});
  ASSERT_EQ(::chmod(path("target").c_str(), 0640), 0);
  fs::create_symlink("target", path("link"));
  media::write_file(path("link"), {2});
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(media::read_file(path("target")), Blob{2});
  struct stat status {};
  ASSERT_EQ(::stat(path("target").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(Files, PngRoundTripAndSameBytes) {
  const cv::Mat picture = noise(41, 29, 2);
  const Blob once = media::encode_png(rgb(picture));
  EXPECT_EQ(difference(pixels(media::decode(once)), picture), 0);
  EXPECT_EQ(media::encode_png(rgb(picture)), once);
  media::write_png(path("p.png"), rgb(picture));
  EXPECT_EQ(media::read_file(path("p.png")), once);
  EXPECT_EQ(difference(pixels(media::load(path("p.png"))), picture), 0);
}

TEST_F(Files, OnlyPicturesAreEncoded) {
  EXPECT_EQ(code_of([] { media::encode_png(at::Tensor()); }, "[3,H,W]"), ErrorCode::bad_argument);
}
