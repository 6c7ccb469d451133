#include "lab/cli/bench_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>

namespace arrcoc::cli {

namespace {

const char* const kColours[] = {"#1b6ac9", "#2a9d4a", "#d1495b", "#8a5fbf", "#c98a1b",
                                "#3aa6a6", "#777777", "#b03a8c", "#5a7d2a", "#a0522d"};

}  // namespace

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(const std::string& bytes) {
  static const char* const kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

std::string curves_svg(const std::vector<Curve>& curves, const std::string& axis, Height height) {
  constexpr double kWidth = 640, kHeight = 360, kLeft = 60, kBottom = 40;
  double low = 1e300, high = 0, least = 1e300, most = 0;
  for (const Curve& c : curves)
    for (const auto& p : c.points) {
      low = std::min(low, p[0]), high = std::max(high, p[0]);
      least = std::min(least, p[1]), most = std::max(most, p[1]);
    }
  if (!(high > 0)) return "";
  const bool share = height == Height::share;
  const auto along = [](double v, double from, double to) {
    return (std::log(std::max(v, 1e-9)) - std::log(std::max(from, 1e-9))) /
           std::max(1e-6, std::log(std::max(to, 1e-9)) - std::log(std::max(from, 1e-9)));
  };
  const auto x = [&](double v) {
    return kLeft + 10 + (kWidth - kLeft - 160) * along(v, low, high);
  };
  const auto y = [&](double v) {
    return 10 + (kHeight - kBottom - 10) * (1 - (share ? v : along(v, least, most)));
  };
  std::ostringstream out;
  out << "<svg viewBox='0 0 " << kWidth << " " << kHeight << "' role='img'>";
  for (int i = 0; i <= 5; ++i) {
    const double t = share ? 0.2 * i
                           : std::exp(std::log(std::max(least, 1e-9)) * (1 - 0.2 * i) +
                                      std::log(std::max(most, 1e-9)) * 0.2 * i);
    out << "<line x1='" << kLeft << "' x2='" << kWidth - 150 << "' y1='" << y(t) << "' y2='" << y(t)
        << "' stroke='#ddd'/><text x='" << kLeft - 6 << "' y='" << y(t) + 4
        << "' text-anchor='end'>" << number(std::round(t * 1000) / 1000) << "</text>";
  }
  out << "<text x='" << (kWidth - 100) / 2 << "' y='" << kHeight - 6 << "' text-anchor='middle'>"
      << escape(axis) << ": " << number(low) << " to " << number(high) << "</text>";
  for (size_t i = 0; i < curves.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    std::string line;
    for (const auto& p : curves[i].points) {
      line += (line.empty() ? "" : " ") + number(x(p[0])) + "," + number(y(p[1]));
      out << "<line x1='" << x(p[0]) << "' x2='" << x(p[0]) << "' y1='" << y(p[2]) << "' y2='"
          << y(p[3]) << "' stroke='" << colour << "' opacity='.45'/><circle cx='" << x(p[0])
          << "' cy='" << y(p[1]) << "' r='3.5' fill='" << colour << "'/>";
    }
    out << "<polyline points='" << line << "' fill='none' stroke='" << colour << "'/>"
        << "<text x='" << kWidth - 140 << "' y='" << 20 + 17 * i << "' fill='" << colour << "'>"
        << escape(curves[i].name) << "</text>";
  }
  return out.str() + "</svg>";
}

std::string heat_svg(const std::vector<double>& cells, int cols) {
  double most = 1e-9;
  for (double v : cells) most = std::max(most, v);
  const int rows = static_cast<int>(cells.size()) / std::max(1, cols);
  std::ostringstream out;
  out << "<svg viewBox='0 0 " << cols << " " << rows << "' role='img' class='heat'>";
  for (size_t i = 0; i < cells.size(); ++i)
    out << "<rect x='" << i % static_cast<size_t>(cols) << "' y='" << i / static_cast<size_t>(cols)
        << "' width='1' height='1' fill='#1b6ac9' opacity='" << number(cells[i] / most) << "'/>";
  return out.str() + "</svg>";
}

}  // namespace arrcoc::cli
