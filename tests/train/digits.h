// A scene source that needs no assets (three digits in a 5x7 font, drawn twice as large), and
// options of a run of seconds.
#pragma once

#include <ATen/Parallel.h>

#include <string>

#include "folder.h"
#include "lab/scenes/scenes.h"
#include "lab/train/dice.h"
#include "lab/train/train.h"
#include "models/tiny/tiny.h"

namespace arrcoc::training {

inline Options tiny_options(const std::string& name) {
  Options o;
  o.out = test::fresh_folder(name);
  o.device = "cpu";
  at::set_num_threads(1);  // these tensors are too small to share
  o.canvas = 64;
  o.slots = 32;
  o.workers = 2;
  o.fresh = 4;
  o.pictures = 8;
  o.questions = 2;
  o.held_out = 8;
  o.held_out_budget = 16;
  o.budget_low = 8;
  o.budget_high = 16;
  o.words = 0;
  o.small = 0;
  o.steps = 6;
  o.evaluate_steps = 1000;
  o.report_seconds = 1e9;
  o.shape = tiny::shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":1,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
  return o;
}

// Of a run on a folder of pictures.
inline Options folder_options(const std::string& name, const std::string& data) {
  Options o = tiny_options(name);
  o.data = data;
  o.slots = o.real_slots = 8;
  o.pictures = 4;
  o.held_out = 2;
  o.reading = 0;
  return o;
}

inline void draw_digit(scenes::Image& image, int digit, int x, int y, int dot) {
  static const char* const kRows[10] = {
      "01110100011001110101110011000101110", "00100011000010000100001000010001110",
      "01110100010000100010001000100011111", "11111000100010000010000011000101110",
      "00010001100101010010111110001000010", "11111100001111000001000011000101110",
      "00110010001000011110100011000101110", "11111000010001000100010000100001000",
      "01110100011000101110100011000101110", "01110100011000101111000010001001100"};
  for (int r = 0; r < 7 * dot; ++r)
    for (int c = 0; c < 5 * dot; ++c)
      if (kRows[digit][(r / dot) * 5 + c / dot] == '1')
        for (int k = 0; k < 3; ++k)
          image.rgb[static_cast<size_t>(((y + r) * image.width + x + c) * 3 + k)] = 20;
  image.glyphs.push_back({static_cast<char32_t>(U'0' + digit), static_cast<float>(x) + 2.5F * dot,
                          static_cast<float>(y) + 3.5F * dot, 7.0F * dot});
}

// A light page with one number; every question asks for it.
inline scenes::Scene digits_scene(uint64_t seed, int side) {
  Dice dice(seed);
  scenes::Scene scene;
  scene.kind = "documents";
  scene.layout = "digits";
  scene.seed = seed;
  scenes::Image image;
  image.width = side;
  image.height = side;
  image.rgb.assign(static_cast<size_t>(side) * side * 3, 235);
  const int x = 4 + dice.below(side - 48), y = 4 + dice.below(side - 24);
  std::string number;
  for (int i = 0; i < 3; ++i) {
    const int digit = dice.below(10);
    number += static_cast<char>('0' + digit);
    draw_digit(image, digit, x + 12 * i, y, 2);
  }
  const Box box{static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + 34),
                static_cast<float>(y + 14)};
  image.texts.push_back({box, number});
  scene.images.push_back(std::move(image));
  scenes::Question question;
  question.text = "which number?";
  question.answer = number;
  question.complexity = Complexity::simple;
  question.answer_boxes = {box};
  scene.questions.push_back(question);
  return scene;
}

}  // namespace arrcoc::training
