#include <climits>
#include <cmath>

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"

#ifdef ARRCOC_HAVE_POPPLER
#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-page-renderer.h>
#include <poppler-page.h>

#include <memory>
#endif

namespace arrcoc::media {

#ifdef ARRCOC_HAVE_POPPLER

Upright decode_pdf(const Job& job) {
  static const bool silent = [] {
    poppler::set_debug_error_function([](const std::string&, void*) {}, nullptr);
    return true;
  }();
  (void)silent;
  const double dpi = job.options.pdf_dpi;
  if (!(dpi >= 1 && dpi <= 10000)) {
    throw Error(ErrorCode::bad_argument, "pdf_dpi must lie between 1 and 10000");
  }
  if (job.bytes.size() > INT_MAX) {
    throw Error(ErrorCode::too_large, job.name + ": PDF files above 2 GB are not supported");
  }
  std::unique_ptr<poppler::document> document(poppler::document::load_from_raw_data(
      reinterpret_cast<const char*>(job.bytes.data()), static_cast<int>(job.bytes.size())));
  if (!document) job.broken("it cannot be opened");
  if (document->is_locked()) job.unsupported("the PDF needs a password");
  if (job.options.page < 1 || job.options.page > document->pages()) {
    throw Error(ErrorCode::not_found, job.name + ": there is no page " +
                                          std::to_string(job.options.page) + "; pages: 1 to " +
                                          std::to_string(document->pages()));
  }
  std::unique_ptr<poppler::page> page(document->create_page(job.options.page - 1));
  if (!page) job.broken("page " + std::to_string(job.options.page) + " cannot be read");
  const poppler::rectf box = page->page_rect();
  const double width = std::ceil(box.width() * dpi / 72);
  const double height = std::ceil(box.height() * dpi / 72);
  if (!(width >= 1 && height >= 1)) job.broken("the page has no area");
  require_within(width, height, job.name, job.options);

  poppler::page_renderer renderer;
  renderer.set_image_format(poppler::image::format_rgb24);
  renderer.set_render_hints(poppler::page_renderer::antialiasing |
                            poppler::page_renderer::text_antialiasing);
  poppler::image image = renderer.render_page(page.get(), dpi, dpi);
  if (!image.is_valid() || image.width() < 1 || image.height() < 1) {
    job.broken("page " + std::to_string(job.options.page) + " cannot be rendered");
  }
  Canvas canvas(job, image.width(), image.height(), 1);
  canvas.put_all(0,
                 cv::Mat(image.height(), image.width(), CV_8UC3, image.data(),
                         static_cast<size_t>(image.bytes_per_row())),
                 Alpha::straight);
  return canvas.size();
}

#else

Upright decode_pdf(const Job& job) { job.unsupported("this build has no PDF support (poppler)"); }

#endif

}  // namespace arrcoc::media
