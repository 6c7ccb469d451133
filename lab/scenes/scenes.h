// Scenes: pictures with questions whose evidence is known, without end, from a seed.
//
// The generator needs no libtorch and no OpenCV (stb_truetype only), so it builds anywhere. A scene
// depends on (kind, seed, options) alone: not on threads, not on what was made before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/query.h"

namespace arrcoc::scenes {

struct Glyph {
  char32_t code = 0;   // Latin-1 or the euro sign
  float x = 0, y = 0;  // centre, picture pixels
  float height = 0;    // em height, picture pixels
};

struct Question {
  std::string text;  // UTF-8 of Latin-1 and the euro sign, at most 192 bytes
  // At most 64 characters, trimmed, lower case but for formulas (LaTeX-like); figures without their
  // unit ("RM 33.90" is "33.90", "43%" is "43"); "none" when the picture does not tell.
  std::string answer;
  std::string intent;  // "receipt.total", "chart.value", ...
  Complexity complexity = Complexity::simple;
  std::vector<Box> answer_boxes;    // where the answer stands; several for several lines
  std::vector<Box> evidence_boxes;  // what else must be read (labels, legend, axis)
  int picture = 0;                  // pairs and clips: the picture that holds the answer
};

struct TextBox {
  Box box;
  std::string text;
};

// rgb is interleaved [height][width][3].
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
  std::vector<Glyph> glyphs;   // every character that was drawn as text, reading order per line
  std::vector<TextBox> texts;  // lines (or words) of text
  std::vector<Box> targets;    // clips: where the evidence of question i is in this frame
};

struct Scene {
  std::string kind;    // documents, charts, scenes, formulas, objects, hard, clips, pairs
  std::string layout;  // "receipt", "bars-grouped", ...
  uint64_t seed = 0;
  std::vector<Image> images;  // one, but for clips and pairs
  std::vector<Question> questions;
};

// Texts and tables of other people with questions that people asked about them, to be drawn as
// pages: the kind "texts", which is no part of kinds(), because it needs such a file.
class Texts;
constexpr const char* kTexts = "texts";
// A line is a letter, then fields behind tabs: T title (begins the next one), P the whole text, Q
// question, answer and the byte of the text at which it begins; for a table H its heads, R the
// cells of a row, A question, row and column of the answer. UTF-8 of Latin-1 and the euro sign.
// `held`: every sixteenth alone, else all others. Error{not_found}, or Error{bad_json} naming the
// line.
std::shared_ptr<const Texts> load_texts(const std::string& path, bool held = false);

// Films for questions over time: the kind "time", no part of kinds() and of no training mix. Suites
// ask in forms of their own ([ask.INTENT.suite] of the word lists), all other seeds in the rest.
constexpr const char* kTime = "time";
constexpr int kTimeFps = 4;  // frames a second

struct Options {
  int longest = 1024;   // longer side of ordinary pictures, at most (needles may be larger)
  int questions = 8;    // per scene, at most
  bool effects = true;  // noise, paper, shadow, skew, blur, JPEG artefacts ...
  // Share of names and labels whose letters are in no list: read, not known. Above 0 receipts also
  // have rarer labels.
  float strange = 0;
  std::shared_ptr<const Texts> texts = nullptr;  // for the kind "texts"
  bool held_back = false;  // the recipe variation of suite:unseen (fonts, layouts, cut-outs)
};

// The kinds, in the order above.
const std::vector<std::string>& kinds();

// Fonts, cut-outs and word lists, loaded once and shared by threads. Folder: assets/ of the
// repository or of the installation. Error{not_found} names what is missing, Error{bad_json} the
// file and line of a word list that cannot be read.
class Assets {
 public:
  static std::shared_ptr<const Assets> load(const std::string& folder);
  virtual ~Assets() = default;
};

// Where the assets are: $ARRCOC_ASSETS, else beside the running program (../share/arrcoc/assets of
// an installation, ../assets of a build folder inside the repository). Error{not_found}.
std::string find_assets();

// Error{not_found} for an unknown kind, Error{bad_argument} for texts without options.texts.
Scene make(const Assets& assets, const std::string& kind, uint64_t seed,
           const Options& options = {});
// The same pictures, facts and answers; wording > 0 draws another sentence for each question (the
// same one where there is no other).
Scene make_reworded(const Assets& assets, const std::string& kind, uint64_t seed,
                    const Options& options, uint64_t wording);

// The training mix: kind drawn from the seed. Error{bad_argument} for a seed from kSuiteSeedBase
// on: what the suites ask must never have been trained on.
constexpr uint64_t kSuiteSeedBase = 0xF000000000000000ULL;
Scene make_mixed(const Assets& assets, uint64_t seed, const Options& options = {});

// Fixed suites: one per kind, "unseen" (the held-back recipe over all kinds) and "time". Each has
// kSuiteScenes scenes with kSuiteQuestions questions, made one at a time.
constexpr int kSuiteScenes = 100;
constexpr int kSuiteQuestions = 2;
const std::vector<std::string>& suites();  // the kinds, "unseen", "time"
// Scene `index` in [0, kSuiteScenes) of a suite ("documents" or "suite:documents").
// Error{not_found} for an unknown suite, Error{bad_argument} for an index outside.
Scene suite_scene(const Assets& assets, const std::string& name, int index);

}  // namespace arrcoc::scenes
