#include "media/bombs.h"

#include <zlib.h>

#include <cstring>

namespace pictures {

Blob pdf_file(const std::vector<std::string>& objects) {
  std::string out = "%PDF-1.4\n";
  for (size_t i = 0; i < objects.size(); ++i)
    out += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  out += "trailer\n<< /Root 1 0 R >>\n%%EOF\n";  // readers find the objects themselves
  return {out.begin(), out.end()};
}

std::string stream(const std::string& head, const std::string& body) {
  return "<< " + head + " /Length " + std::to_string(body.size()) + " >>\nstream\n" + body +
         "\nendstream";
}

namespace {

void put(Blob& to, const std::string& text) { to.insert(to.end(), text.begin(), text.end()); }
void put(Blob& to, const Blob& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
void big(Blob& to, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}
void little(Blob& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

Blob deflated(size_t zeros) {
  const Blob from(zeros, 0);
  Blob out(compressBound(zeros));
  uLongf size = out.size();
  compress2(out.data(), &size, from.data(), zeros, 9);
  out.resize(size);
  return out;
}

Blob chunk(const std::string& name, const Blob& data) {
  Blob body;
  put(body, name);
  put(body, data);
  Blob out;
  big(out, data.size(), 4);
  put(out, body);
  big(out, ::crc32(0, body.data(), static_cast<uInt>(body.size())), 4);
  return out;
}

// Chunks behind the header of a small PNG.
Blob png_with(const std::vector<Blob>& chunks) {
  const Blob plain = encoded(pattern(48, 40), ".png");
  Blob out(plain.begin(), plain.begin() + 33);
  for (const Blob& one : chunks) put(out, one);
  out.insert(out.end(), plain.begin() + 33, plain.end());
  return out;
}

Blob box(const std::string& name, const Blob& body) {
  Blob out;
  big(out, body.size() + 8, 4);
  put(out, name);
  put(out, body);
  return out;
}
Blob full_box(const std::string& name, int version, const Blob& body) {
  Blob all{static_cast<uint8_t>(version), 0, 0, 0};
  put(all, body);
  return box(name, all);
}

// The body of the first box of this name, wherever it lies.
Blob body_of(const Blob& file, const std::string& name) {
  for (size_t at = 4; at + 4 <= file.size(); ++at) {
    if (std::memcmp(file.data() + at, name.data(), 4) != 0) continue;
    size_t size = 0;
    for (int i = 4; i > 0; --i) size = size << 8 | file[at - i];
    return {file.begin() + static_cast<long>(at + 4),
            file.begin() + static_cast<long>(at - 4 + size)};
  }
  return {};
}

// Tags of text that all mean the same megabyte.
Blob tiff_of_tags(int tags) {
  constexpr size_t kText = 1 << 20;
  const Blob plain = tiff(pattern(16, 16));  // its directory stands where bytes 4 to 7 say
  uint32_t at = 0;
  std::memcpy(&at, plain.data() + 4, 4);
  const int entries = plain[at] | plain[at + 1] << 8;
  Blob out = plain;
  const size_t text = out.size();
  out.insert(out.end(), kText, 'x');
  const auto directory = static_cast<uint32_t>(out.size());
  std::memcpy(out.data() + 4, &directory, 4);
  little(out, static_cast<uint64_t>(entries + tags), 2);
  out.insert(out.end(), plain.begin() + at + 2, plain.begin() + at + 2 + 12 * entries);
  for (int i = 0; i < tags; ++i) {
    little(out, 40000 + static_cast<uint64_t>(i), 2);
    little(out, 2, 2), little(out, kText, 4), little(out, text, 4);
  }
  little(out, 0, 4);
  return out;
}

// A directory of 65,535 entries that follows itself.
Blob exif_loop() {
  Blob out;
  put(out, "II");
  little(out, 42, 2), little(out, 8, 4), little(out, 65535, 2);
  while (out.size() < 60000)
    little(out, 0x8769, 2), little(out, 4, 2), little(out, 1, 4), little(out, 8, 4);
  return out;
}

// Frames of `pixels` each that only an animation's decoder would read.
Blob apng(int frames) {
  std::vector<Blob> chunks;
  Blob control;
  big(control, static_cast<uint64_t>(frames), 4), big(control, 0, 4);
  chunks.push_back(chunk("acTL", control));
  for (int i = 0; i < frames; ++i) {
    Blob frame;
    big(frame, static_cast<uint64_t>(i), 4), big(frame, 20000, 4), big(frame, 20000, 4);
    frame.resize(26);
    chunks.push_back(chunk("fcTL", frame));
    Blob data;
    big(data, static_cast<uint64_t>(i), 4);
    put(data, deflated(100000));
    chunks.push_back(chunk("fdAT", data));
  }
  return png_with(chunks);
}

Blob animated_webp() {
  Blob body;
  put(body, "WEBPVP8X");
  little(body, 10, 4), little(body, 2, 4), little(body, 63, 3), little(body, 63, 3);
  put(body, "ANIM");
  little(body, 6, 4), little(body, 0, 6);
  Blob out;
  put(out, "RIFF");
  little(out, body.size(), 4);
  put(out, body);
  return out;
}

Blob gif() {
  Blob out;
  put(out, "GIF89a");
  little(out, 60000, 2), little(out, 60000, 2), little(out, 0, 3);
  for (int i = 0; i < 1000; ++i)
    put(out, Blob{0x2c, 0, 0, 0, 0, 0x60, 0xea, 0x60, 0xea, 0, 2, 1, 0x44, 0});
  return out;
}

// A picture of 100,000 x 100,000 pixels on a small page.
Blob pdf_of_huge_picture() {
  const Blob zeros = deflated(10 << 20);
  return pdf_file(
      {"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
       "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R "
       "/Resources << /XObject << /X 5 0 R >> >> >>",
       stream("", "99 0 0 99 0 0 cm /X Do"),
       stream("/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB "
              "/BitsPerComponent 16 /Filter /FlateDecode",
              {zeros.begin(), zeros.end()})});
}

}  // namespace

Blob png_of_texts(const std::string& kind, int chunks, size_t bytes) {
  Blob data;
  put(data, "Comment");
  data.push_back(0);
  if (kind == "iTXt") put(data, Blob{1, 0, 0, 0});  // compressed, deflate, no language, no keyword
  if (kind != "iTXt") data.push_back(0);            // deflate
  put(data, deflated(bytes));
  return png_with(std::vector<Blob>(static_cast<size_t>(chunks), chunk(kind, data)));
}

Blob jpeg_of_scans(int width, int height, int scans) {
  Blob out{0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
  out.insert(out.end(), 64, 1);
  put(out, Blob{0xFF, 0xC2, 0, 11, 8});
  big(out, static_cast<uint64_t>(height), 2), big(out, static_cast<uint64_t>(width), 2);
  put(out, Blob{1, 1, 0x11, 0});
  // DC: one code of one bit, category 0. AC: one code of one bit, a run of 16,384 to 32,767 blocks
  // without coefficients.
  put(out, Blob{0xFF, 0xC4, 0, 20, 0x00, 1});
  out.insert(out.end(), 15, 0);
  out.push_back(0);
  put(out, Blob{0xFF, 0xC4, 0, 20, 0x10, 1});
  out.insert(out.end(), 15, 0);
  out.push_back(0xE0);
  const int64_t blocks = int64_t{(width + 7) / 8} * ((height + 7) / 8);
  put(out, Blob{0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0});
  out.insert(out.end(), static_cast<size_t>((blocks + 7) / 8), 0);
  // A run: the code (0) and 14 bits that say how much longer than 16,384; here all zero.
  const size_t run_bytes = static_cast<size_t>(((blocks + 16383) / 16384 * 15 + 7) / 8);
  for (int i = 0; i < scans; ++i) {
    const auto k = static_cast<uint8_t>(1 + i % 63);
    // The first scan of a coefficient at bit 13, then finer ones.
    const int round = i / 63;
    put(out, Blob{0xFF, 0xDA, 0, 8, 1, 1, 0, k, k,
                  static_cast<uint8_t>(round == 0 ? 0x0D : (14 - round) << 4 | (13 - round))});
    out.insert(out.end(), run_bytes, 0);
  }
  put(out, Blob{0xFF, 0xD9});
  return out;
}

Blob pdf_of_forms(int depth, int fan) {
  std::vector<std::string> objects = {
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R "
      "/Resources << /XObject << /X 5 0 R >> >> >>",
      stream("", "/X Do")};
  for (int i = 0; i < depth; ++i) {
    const bool last = i + 1 == depth;
    std::string body;
    for (int k = 0; k < fan; ++k) body += last ? "0 0 9 9 re f " : "/X Do ";
    const std::string next =
        last ? "" : "/Resources << /XObject << /X " + std::to_string(6 + i) + " 0 R >> >>";
    objects.push_back(stream("/Type /XObject /Subtype /Form /BBox [0 0 99 99] " + next, body));
  }
  return pdf_file(objects);
}

Blob heic_of_grid(uint32_t width, uint32_t height) {
  const Blob tile = heic(pattern(64, 64));
  if (tile.empty()) return {};
  const Blob pixels = body_of(tile, "mdat");
  Blob grid{0, 1, 254, 255};  // 32-bit sizes; 255 x 256 tiles
  big(grid, width, 4), big(grid, height, 4);

  Blob ispe;
  big(ispe, 64, 4), big(ispe, 64, 4);
  const Blob properties = [&] {
    Blob container = full_box("ispe", 0, ispe);
    put(container, box("hvcC", body_of(tile, "hvcC")));
    Blob links;
    big(links, 2, 4);
    big(links, 1, 2), put(links, Blob{2, 1, 0x82});
    big(links, 2, 2), put(links, Blob{1, 1});
    Blob both = box("ipco", container);
    put(both, full_box("ipma", 0, links));
    return box("iprp", both);
  }();
  const auto item = [](int id, const std::string& type) {
    Blob body;
    big(body, static_cast<uint64_t>(id), 2), big(body, 0, 2);
    put(body, type);
    body.push_back(0);
    return full_box("infe", 2, body);
  };
  Blob handler;
  big(handler, 0, 4);
  put(handler, "pict");
  handler.resize(21);
  Blob items;
  big(items, 2, 2);
  put(items, item(1, "hvc1")), put(items, item(2, "grid"));
  Blob uses;
  big(uses, 2, 2), big(uses, 255 * 256, 2);
  for (int i = 0; i < 255 * 256; ++i) big(uses, 1, 2);
  const auto file_with = [&](uint32_t pixels_at) {
    Blob where{0x44, 0};
    big(where, 2, 2);
    for (int id : {1, 2}) {
      big(where, static_cast<uint64_t>(id), 2), big(where, id == 1 ? 0 : 1, 2), big(where, 0, 2);
      big(where, 1, 2);
      big(where, id == 1 ? pixels_at : 0, 4), big(where, id == 1 ? pixels.size() : grid.size(), 4);
    }
    Blob meta = full_box("hdlr", 0, handler);
    put(meta, full_box("pitm", 0, {0, 2}));
    put(meta, full_box("iloc", 1, where));
    put(meta, full_box("iinf", 0, items));
    put(meta, full_box("iref", 0, box("dimg", uses)));
    put(meta, properties);
    put(meta, box("idat", grid));
    Blob kind;
    put(kind, "heic");
    big(kind, 0, 4);
    put(kind, "mif1heic");
    Blob out = box("ftyp", kind);
    put(out, full_box("meta", 0, meta));
    put(out, box("mdat", pixels));
    return out;
  };
  const size_t before = file_with(0).size() - pixels.size();
  return file_with(static_cast<uint32_t>(before));
}

std::vector<Bomb> bombs() {
  std::vector<Bomb> out = {
      {"png zTXt", png_of_texts("zTXt", 150, 7 << 20), Fate::harmless},
      {"png iTXt", png_of_texts("iTXt", 150, 7 << 20), Fate::harmless},
      {"png iCCP", png_of_texts("iCCP", 1, 200 << 20), Fate::harmless},
      {"png animation", apng(200), Fate::harmless},
      {"jpeg exif loop", jpeg_with_exif(encoded(pattern(48, 40), ".jpg"), exif_loop()),
       Fate::harmless},
      {"tiff tags", tiff_of_tags(4000), Fate::refused},
      {"jpeg scans", jpeg_of_scans(7000, 7000, 400), Fate::refused},
      {"webp animation", animated_webp(), Fate::refused},
      {"gif animation", gif(), Fate::refused},
      {"pdf forms", pdf_of_forms(18, 10), Fate::slow},
      {"pdf picture", pdf_of_huge_picture(), Fate::slow},
  };
  if (const Blob grid = heic_of_grid(30000, 30000); !grid.empty())
    out.push_back({"heic grid", grid, Fate::refused});
  return out;
}

}  // namespace pictures
