// Films from files and folders: what is broken is said, nothing is lost.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "film/films.h"
#include "folder.h"

using namespace arrcoc;
using arrcoc::test::Folder;
using media::Video;

namespace {

void write_frame(const std::string& path, int seed, int width = 64, int height = 48) {
  media::write_png(path, films::ground(width, height, seed));
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string message_of(const std::string& source) {
  try {
    Video::open(source);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

int count(Video& video) {
  int n = 0;
  while (video.read()) ++n;
  return n;
}

}  // namespace

TEST(Video, AFolderIsReadInNaturalOrderAndABrokenFrameIsNamed) {
  Folder folder;
  write_frame(folder / "f10.png", 3, 80, 60);
  write_frame(folder / "f2.png", 2);
  write_frame(folder / "f1.png", 1);
  write_text(folder / "f3.png", "this is no picture");
  write_text(folder / "notes.txt", "ignored");
  Video video = Video::open(folder.path());
  EXPECT_EQ(video.expected(), 4);
  std::vector<int> widths;
  std::vector<std::string> broken;
  while (const auto frame = video.read()) {
    widths.push_back(frame->width());
    broken.push_back(frame->broken());
  }
  EXPECT_EQ(widths, (std::vector<int>{64, 64, 0, 80}));
  EXPECT_NE(broken[2].find("f3.png"), std::string::npos);
  EXPECT_EQ(broken[3], "");
}

TEST(Video, OnePictureIsAFilmOfOneFrame) {
  Folder folder;
  write_frame(folder / "one.png", 1);
  Video video = Video::open(folder / "one.png");
  EXPECT_EQ(count(video), 1);
  EXPECT_EQ(video.ending(), "");
}

TEST(Video, NoFramesIsOneClearError) {
  Folder folder;
  EXPECT_NE(message_of(folder.path()).find("no pictures"), std::string::npos);
  EXPECT_NE(message_of(folder / "nothing.mp4").find("there is no file"), std::string::npos);
  write_text(folder / "text.mp4", "this is no film");
  EXPECT_NE(message_of(folder / "text.mp4").find("not a film"), std::string::npos);
  // FFmpeg would draw letters, and follow the files that a list names.
  write_text(folder / "text.txt", "# A page of text\n\nwith lines\n");
  write_text(folder / "list.m3u8", "#EXTM3U\n#EXTINF:1,\n" + (folder / "text.mp4") + "\n");
  for (const char* name : {"text.txt", "list.m3u8"})
    EXPECT_NE(message_of(folder / name).find("not a film"), std::string::npos) << name;
  EXPECT_NE(message_of("camera:x").find("camera:1"), std::string::npos);
}

TEST(Video, WhatIsWrittenCanBeReadAndATornFileIsSaid) {
  Folder folder;
  const std::string path = folder / "film.avi";
  {
    media::VideoWriter writer(path, 10);
    for (int i = 0; i < 30; ++i)
      writer.write(films::ground(i == 7 ? 100 : 160, 120, 1, 3 * i));  // one frame of another size
    EXPECT_FALSE(std::filesystem::exists(path));                       // nothing before it is whole
    writer.finish();
  }
  Video video = Video::open(path);
  EXPECT_EQ(video.expected(), 30);
  EXPECT_NEAR(video.fps(), 10, 0.01);
  const auto frame = video.read();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->picture().width(), 160);
  EXPECT_EQ(frame->thumb(), filming::thumb_of(frame->picture()));
  EXPECT_EQ(count(video), 29);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  Video torn = Video::open(path);
  const int read = count(torn);
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 30);
  EXPECT_NE(torn.ending().find("ends after"), std::string::npos);
  EXPECT_THROW(media::VideoWriter(folder / "film.xyz", 10), Error);
}
