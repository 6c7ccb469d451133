// arrcoc-decode-film: decodes one film for arrcoc, frame by frame, and may do nothing else.
#include <opencv2/core/utils/logger.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "media/apart/film_head.h"
#include "media/apart/main/confine.h"
#include "media/apart/main/serving.h"

namespace {

using namespace arrcoc::media;

Outcome next_frame(cv::VideoCapture& film, const Order& order) {
  Outcome out;
  cv::Mat bgr;
  try {
    out.error = Outcome::kEnd;
    if (!film.grab()) return out;
    out.error = Outcome::kBroken;
    if (!film.retrieve(bgr) || bgr.empty() || bgr.type() != CV_8UC3 || !bgr.isContinuous() ||
        1e-6 * bgr.cols * bgr.rows > order.max_megapixels)
      return out;
    const size_t bytes = bgr.total() * bgr.elemSize();
    std::memcpy(Mapped(bytes, 0, PROT_READ | PROT_WRITE).data(), bgr.data, bytes);
    out = {Outcome::kDone, bgr.cols, bgr.rows};
  } catch (const std::exception&) {
    out.error = Outcome::kBroken;
  }
  return out;
}

// Text is no film: FFmpeg would draw its letters, or follow the files that a playlist names.
bool is_text() {
  char head[512];
  const ssize_t size = ::pread(kFilm, head, sizeof head, 0);
  const auto printed = [](char c) {
    return c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\x1b' || c < 0 || c >= ' ';
  };
  constexpr std::string_view kRaw = "YUV4MPEG2 ";
  return size > 0 && std::all_of(head, head + size, printed) &&
         std::string_view(head, static_cast<size_t>(size)).substr(0, kRaw.size()) != kRaw;
}

}  // namespace

int main() {
  if (!started_by_arrcoc()) return 2;
  ::setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 1);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  Hello hello;
  hello.address_space = mapped_bytes();
  hello.refused = confine(kFilm);
  Order order;
  if (!send_packet(&hello, sizeof hello) ||
      ::recv(kSocket, &order, sizeof order, 0) != static_cast<ssize_t>(sizeof order))
    return 1;
  cv::VideoCapture film;
  FilmHead head;
  try {
    if (!is_text() && film.open("/proc/self/fd/" + std::to_string(kFilm), cv::CAP_FFMPEG))
      head = head_of(film);
  } catch (const std::exception&) {  // head says that there is no film
  }
  if (!send_packet(&head, sizeof head)) return 0;
  char wish = 0;
  while (::recv(kSocket, &wish, 1, 0) == 1) {
    const Outcome outcome = next_frame(film, order);
    if (!send_packet(&outcome, sizeof outcome)) return 0;
  }
  return 0;
}
