// What the tools do, along the road that every question takes.
#include <algorithm>
#include <cmath>

#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/images.h"
#include "serve/mcp/tools.h"
#include "serve/service.h"

namespace arrcoc::serving {

namespace {

constexpr int kGone = 499;  // as require_patience() says it
constexpr int kUsualCrops = 3;
constexpr int kLeastCropSide = 224;  // around a small region, so that it can be placed

ordered_json image_content(const std::vector<uint8_t>& png) {
  return {{"type", "image"}, {"data", to_base64(png)}, {"mimeType", "image/png"}};
}

ordered_json text_content(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

// The same numbers as in the report of `arrcoc ask --json`, without those that an agent would only
// pay for.
ordered_json brief(const Answer& answer) {
  const ordered_json report = to_json(answer);
  ordered_json out;
  for (const char* key : {"image", "question", "answer", "confidence", "calibrated", "unsure",
                          "box", "tokens", "native_tokens"})
    if (report.contains(key)) out[key] = report[key];
  out["milliseconds"] = rounded(answer.milliseconds());
  return out;
}

ordered_json box_json(const Box& box) {
  return {rounded(box.x0), rounded(box.y0), rounded(box.x1), rounded(box.y1)};
}

// One axis of a box that is too long: the part around the map's highest place.
void shorten(float& low, float& high, double centre) {
  if (high - low <= mcp::kMostCropSide) return;
  const float start = std::clamp(std::floor(static_cast<float>(centre) - mcp::kMostCropSide / 2.0F),
                                 low, high - mcp::kMostCropSide);
  low = start;
  high = start + mcp::kMostCropSide;
}

// The centre of the highest cell of the map inside a box.
std::pair<double, double> peak(const Map& map, const Box& box) {
  std::pair<double, double> at{(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2};
  float highest = -1;
  for (int r = 0; r < map.rows; ++r)
    for (int c = 0; c < map.cols; ++c) {
      const double x = (c + 0.5) * map.cell_width, y = (r + 0.5) * map.cell_height;
      if (x < box.x0 || x >= box.x1 || y < box.y0 || y >= box.y1 || map.at(r, c) <= highest)
        continue;
      highest = map.at(r, c);
      at = {x, y};
    }
  return at;
}

// [x0, y0, x1, y1] inside the picture, grown to whole pixels. ApiError{400}.
Box given_box(const json& given, const Picture& picture) {
  const std::string size =
      std::to_string(picture.width()) + " x " + std::to_string(picture.height());
  std::vector<double> at;
  if (given.is_array() && given.size() == 4)
    for (const json& one : given)
      if (one.is_number()) at.push_back(one.get<double>());
  const bool inside = at.size() == 4 && at[0] >= 0 && at[1] >= 0 && at[2] <= picture.width() &&
                      at[3] <= picture.height() && at[2] - at[0] >= 1 && at[3] - at[1] >= 1;
  if (!inside)
    throw ApiError(400, "invalid_request",
                   "'box' must be [x0, y0, x1, y1] inside the picture, which is " + size);
  const Box box{static_cast<float>(std::floor(at[0])), static_cast<float>(std::floor(at[1])),
                static_cast<float>(std::ceil(at[2])), static_cast<float>(std::ceil(at[3]))};
  if (std::max(box.width(), box.height()) > mcp::kMostCropSide)
    throw ApiError(400, "too_large",
                   "'box' may have " + std::to_string(mcp::kMostCropSide) +
                       " pixels a side: take parts of it, or give a question");
  return box;
}

// A whole number alone or with words around it: "3", "3 dogs".
ordered_json number_in(const std::string& text) {
  const size_t start = text.find_first_of("0123456789");
  const size_t end = std::min(text.find_first_not_of("0123456789", start), text.size());
  const bool one = start != std::string::npos && end - start < 10 &&
                   text.find_first_of("0123456789.,-/", end) == std::string::npos &&
                   (start == 0 || text[start - 1] == ' ');
  return one ? ordered_json(std::stoll(text.substr(start, end - start))) : ordered_json();
}

}  // namespace

struct Service::Tool {
  JsonFields arguments;
  const mcp::Progress& progress;
  Clock::time_point deadline;
  std::string path, data;
  Extension extension;
  SeenRef seen;
  ordered_json found = ordered_json::object();
  ordered_json images = ordered_json::array();

  std::string question(const char* key = "question") {
    std::string out;
    arguments.field(key, out);
    if (out.empty())
      throw ApiError(400, "invalid_request", std::string("'") + key + "' is missing");
    return out;
  }
};

SeenRef Service::see_given(Tool& tool, const AskOptions& options) const {
  if (tool.path.empty() == tool.data.empty())
    throw ApiError(400, "invalid_request", "give the picture as 'path' or as 'data', one of them");
  tool.arguments.done();
  if (!tool.path.empty() && options_.file_root.empty())
    throw ApiError(400, "unsupported", "pictures by path are off (see --root): send 'data'");
  const auto bytes = !tool.path.empty()                 ? file_below(tool.path, options_)
                     : tool.data.rfind("data:", 0) == 0 ? data_url_bytes(tool.data)
                                                        : from_base64(tool.data);
  SeenRef seen = engine().see(bytes, options, tool.deadline, [this] { require_patience(); });
  tool.progress(1, "the picture is seen");
  return seen;
}

std::shared_ptr<const Answer> Service::ask_tool(Tool& tool, const std::string& question,
                                                Wanted wanted) {
  parse_query(question);  // refuses a bad question before anything is decoded
  Question asked;
  asked.text = question;
  asked.wanted = wanted;
  asked.options = options_for(tool.extension, "");
  if (wanted == Wanted::answer) asked.model = asker_->model();
  if (!bundled()) asked.options.generate.max_new_tokens = options_.max_new_tokens;
  tool.seen = see_given(tool, asked.options);
  asked.pictures = {tool.seen};
  const Ticket job = engine().ask(std::move(asked));
  std::string text;
  while (wait_for(*job, tool.deadline, text.size(), text) != AnswerStream::Progress::done)
    tool.progress(1 + static_cast<double>(text.size()), text);
  return job->answer();
}

void Service::look_tool(Tool& tool) {
  bool map = false;
  tool.arguments.field("map", map);
  const auto answer = ask_tool(tool, tool.question(), Wanted::look);
  tool.found = brief(*answer);
  auto boxes = ordered_json::array();
  const ordered_json report = to_json(*answer);
  for (const ordered_json& one : report["pictures"][0]["boxes"])
    boxes.push_back({{"box", one["box"]}, {"relevance", one["strength"]}});
  tool.found["boxes"] = std::move(boxes);
  if (map)
    tool.images.push_back(image_content(media::encode_png(
        media::draw_relevance(tool.seen->picture, answer->from().look.relevance))));
}

void Service::zoom_tool(Tool& tool) {
  int crops = kUsualCrops;
  tool.arguments.number("crops", crops, 1, mcp::kMostCrops);
  const json* box = tool.arguments.take("box");
  const json wanted = box != nullptr ? *box : json();
  if (tool.arguments.has("question") == !wanted.is_null())
    throw ApiError(400, "invalid_request", "give 'question' or 'box', one of them");
  auto parts = ordered_json::array();
  const auto cut = [&](const Box& part) {
    tool.images.push_back(image_content(native_png(tool.seen->picture, part)));
  };
  if (!wanted.is_null()) {
    tool.seen = see_given(tool, options_for(tool.extension, ""));
    const Box part = given_box(wanted, tool.seen->picture);
    parts.push_back({{"box", box_json(part)}});
    cut(part);
  } else {
    const auto answer = ask_tool(tool, tool.question(), Wanted::look);
    const Map& map = answer->from().look.relevance.map;
    const Picture& picture = tool.seen->picture;
    for (auto region : allocating::find_regions(map, Geometry{picture.width(), picture.height(), 0},
                                                crops, kLeastCropSide)) {
      const auto [x, y] = peak(map, region.box);
      shorten(region.box.x0, region.box.x1, x);
      shorten(region.box.y0, region.box.y1, y);
      parts.push_back({{"box", box_json(region.box)}, {"relevance", rounded(region.strength)}});
      cut(region.box);
    }
    if (parts.empty()) tool.found["note"] = "nothing stands out for this question: give a box";
  }
  tool.found["image"] = {{"width", tool.seen->picture.width()},
                         {"height", tool.seen->picture.height()}};
  tool.found["crops"] = std::move(parts);
}

void Service::read_tool(Tool& tool) {
  tool.arguments.field("budget", tool.extension.budget);
  tool.arguments.number("passes", tool.extension.passes, 1, 9);
  const auto answer = ask_tool(tool, tool.question(), Wanted::answer);
  tool.found = brief(*answer);
  savings_.add(asker_->model()->name(), answer->native_tokens, answer->tokens, std::nullopt);
}

void Service::count_tool(Tool& tool) {
  const auto answer =
      ask_tool(tool, "How many " + tool.question("what") + " are there?", Wanted::answer);
  tool.found["count"] = number_in(answer->text);
  tool.found.update(brief(*answer));
}

ordered_json Service::call_tool(const std::string& name, const json& arguments,
                                const mcp::Progress& progress) {
  static const std::pair<const char*, void (Service::*)(Tool&)> kTools[] = {
      {"look", &Service::look_tool},
      {"zoom", &Service::zoom_tool},
      {"read", &Service::read_tool},
      {"count", &Service::count_tool}};
  const auto found = std::find_if(std::begin(kTools), std::end(kTools),
                                  [&](const auto& one) { return name == one.first; });
  if (found == std::end(kTools))
    throw mcp::RpcError(mcp::Code::bad_params, "Unknown tool: " + name);
  try {
    engine();  // says when it is still loading
    Tool tool{JsonFields("the arguments", arguments), progress, deadline(), {}, {}, {}, {}};
    tool.arguments.field("path", tool.path).field("data", tool.data);
    (this->*found->second)(tool);
    auto content = ordered_json::array({text_content(dump(tool.found))});
    for (ordered_json& image : tool.images) content.push_back(std::move(image));
    return {{"content", std::move(content)}, {"structuredContent", std::move(tool.found)}};
  } catch (...) {
    const ApiError problem = api_error(std::current_exception());
    if (problem.status() == kGone) throw;
    metrics_.count("arrcoc_failures_total", label("code", problem.code()));
    return {{"content", ordered_json::array({text_content(problem.what())})}, {"isError", true}};
  }
}

}  // namespace arrcoc::serving
