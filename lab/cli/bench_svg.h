// Small drawings for the report's page.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace arrcoc::cli {

std::string escape(const std::string& text);  // for HTML
std::string base64(const std::string& bytes);
std::string number(double v);

struct Curve {
  std::string name;
  std::vector<std::array<double, 4>> points;  // x, y, low, high
};
// x on a logarithmic axis; y from 0 to 1, or logarithmic too.
enum class Height { share, logarithmic };
std::string curves_svg(const std::vector<Curve>& curves, const std::string& axis, Height height);

// Shares of a grid as squares; the darker, the more.
std::string heat_svg(const std::vector<double>& cells, int cols);

}  // namespace arrcoc::cli
