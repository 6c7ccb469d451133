// Folders of real pictures with questions, in the format of shared/real and shared/train.
//
// A folder (or each folder inside it) holds pictures and items*.jsonl, one question a line: image,
// width, height, question, answer, answers, answer_boxes, evidence_boxes, text_boxes, kind,
// box_from, held. words.jsonl beside it, one page a line: image, words [[x0,y0,x1,y1,text,
// confidence,[x of every character],line],...]; the last two may be missing. objects.jsonl, one
// photograph a line: image, objects [[x0,y0,x1,y1,name],...]. What is missing is not known, which
// is something else than absent.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "lab/train/dice.h"

namespace arrcoc::measuring {
class Line;
}

namespace arrcoc::training::real {

struct Word {
  Box box;
  std::string text;
  float confidence = 0;        // 0 to 100; below kSure nothing is taught about its characters
  std::vector<float> centres;  // x of every character (of its code points), or none
  int line = -1;               // words of one line share it, in reading order; -1: not known
};
inline constexpr float kSure = 60;

struct Item {
  std::string id, question, answer, kind, box_from;
  std::vector<std::string> answers;  // all accepted ones, lower case
  std::vector<Box> boxes, evidence;
};

struct Pixels {
  int width = 0, height = 0, channels = 3;  // 1 (grey) or 3, interleaved
  std::vector<uint8_t> bytes;
};
// JPEG and PNG, by their content. Error{bad_image} names the file.
Pixels decode_file(const std::string& path);

struct Name {  // a thing on a photograph
  Box box;
  int which = 0;  // of Data::names
};

struct Entry {  // one picture
  std::string path, set;
  int width = 0, height = 0;
  bool held = false;     // measured on, never trained on
  bool photo = false;    // no print to be read
  bool listed = false;   // all its things are in names
  bool digital = false;  // never printed: looks like a scan only after ageing
  std::vector<Item> items;
  std::vector<Word> words;
  std::vector<Name> names;
};

// The text boxes of a line of items.jsonl, one word each with confidence 0; the words of a line of
// words.jsonl. Error{bad_json} that names file and line.
std::vector<Word> text_lines(const measuring::Line& line);
std::vector<Word> words_in(const measuring::Line& line);

struct Folder {
  std::string path;
  double share = 1;
};
// "DIR[:share],DIR[:share],...". Error{bad_argument} for a share that is no positive number.
std::vector<Folder> folders_of(const std::string& text);

// Everything but the pixels, read once. A folder without items*.jsonl stands for the folders inside
// it, which share its share alike to the square roots of their numbers of pictures. Where no item
// of a set says `held`, `held_share` of its pictures are held aside, by their names.
class Data {
 public:
  // Error{not_found} for a folder without items, Error{bad_json} that names file and line.
  static std::shared_ptr<const Data> load(const std::vector<Folder>& folders, double held_share,
                                          int64_t remember = int64_t{8} << 30);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<std::string>& names() const { return names_; }
  // How pictures that are trained on ask for the number of things of a name; empty where none does.
  std::span<const std::string> count_phrases(int which) const;
  // Share of the photographs among all pictures, by the shares of their folders.
  double photo_share() const;
  bool has(bool photo) const { return !groups(photo).empty(); }
  // A picture to train on, sets by their shares. Calls with the same dice give the same picture.
  const Entry& draw(bool photo, Dice& dice) const;
  // Pictures that were held aside and have questions, or words to ask about; at most `each` of
  // every set, spread over it.
  std::vector<const Entry*> held(bool photo, int each) const;

  // The picture as it is stored; decoded ones are remembered, as many as `remember` bytes hold.
  // Error{bad_image} names the file.
  std::shared_ptr<const Pixels> pixels(const Entry& entry) const;

 private:
  struct Group {  // pictures of one set to train on
    std::vector<size_t> entries;
    double share = 0;
  };
  struct Reading;
  void add_item(Reading& reading, const measuring::Line& line);
  void add_count_phrases(const Entry& entry);
  int number_of(const std::string& name);
  void add_set(const std::string& path, double share, double held_share);
  const std::vector<Group>& groups(bool photo) const { return photo ? photo_ : print_; }

  std::vector<Entry> entries_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> count_phrases_;  // by name
  std::vector<Group> photo_, print_;
  int64_t remember_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Pixels>> remembered_;  // one an entry
  mutable int64_t bytes_ = 0;
};

}  // namespace arrcoc::training::real
