// arrcoc-decode: decodes pictures for arrcoc, one after the other, and may do nothing else.
#ifdef ARRCOC_HAVE_OPENCV
#include <opencv2/core.hpp>
#endif
#include <memory>

#include "arrcoc/error.h"
#include "media/apart/main/confine.h"
#include "media/apart/main/serving.h"
#include "media/codecs/codecs.h"

namespace {

using namespace arrcoc::media;

Outcome decode(const Order& order, const std::string& source, std::string& message) {
  Outcome out;
  try {
    LoadOptions options;
    options.max_megapixels = order.max_megapixels;
    options.page = order.page;
    options.pdf_dpi = order.pdf_dpi;
    const Mapped file(order.bytes, 0, PROT_READ);
    std::unique_ptr<Mapped> planes;
    const Upright size =
        decode_into(Bytes({file.data(), order.bytes}), source, options, false, [&](size_t bytes) {
          planes = std::make_unique<Mapped>(bytes, order.planes_at, PROT_READ | PROT_WRITE);
          return planes->data();
        });
    out.width = size.width;
    out.height = size.height;
  } catch (const arrcoc::Error& error) {
    out.error = static_cast<int32_t>(error.code());
    message = error.what();
  } catch (const std::bad_alloc&) {
    out.error = static_cast<int32_t>(arrcoc::ErrorCode::too_large);
    message = source + ": decoding needs more memory than is allowed";
  } catch (const std::exception&) {  // OpenCV's
    out.error = static_cast<int32_t>(arrcoc::ErrorCode::bad_image);
    message = source + ": it cannot be decoded";
  }
  return out;
}

}  // namespace

int main() {
  if (!started_by_arrcoc()) return 2;
#ifdef ARRCOC_HAVE_OPENCV
  cv::setNumThreads(0);
#endif
  Hello hello;
  hello.address_space = mapped_bytes();
  hello.refused = confine();
  if (!send_packet(&hello, sizeof hello)) return 1;
  char packet[sizeof(Order) + kMostText];
  while (true) {
    const ssize_t n = ::recv(kSocket, packet, sizeof packet, 0);
    if (n < static_cast<ssize_t>(sizeof(Order))) return 0;  // nobody is there any more
    Order order;
    std::memcpy(&order, packet, sizeof order);
    std::string message;
    const Outcome outcome = decode(order, {packet + sizeof order, packet + n}, message);
    if (!send_packet(&outcome, sizeof outcome, message)) return 0;
  }
}
