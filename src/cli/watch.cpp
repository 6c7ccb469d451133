// arrcoc watch VIDEO|DIR|camera "QUESTION": tokens that follow a film, and an answer at the end.
#include "cli/watch.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "arrcoc/model.h"
#include "base/stopwatch.h"
#include "cli/device.h"
#include "cli/hub.h"
#include "cli/watch_moments.h"

namespace arrcoc::cli {

namespace {

using filming::Step;
using media::Video;
using media::VideoFrame;
using nlohmann::ordered_json;

struct Watch {
  std::string source;
  std::string question;
  std::string answer = "end";
  std::string video;
  std::string timeline;
  int64_t max_frames = 0;
  int64_t clip_budget = 0;
  double rate = 0, fps = 0;
  int moments_budget = filming::TimeOptions().tokens;
  bool json = false;
  std::string model, device = "cpu", dtype;  // a Hugging Face model that reads the film at the end
  int64_t max_new_tokens = 0;
};

constexpr size_t kMostRead = 32;  // frames that such a model reads

// An answer from one frame: what `arrcoc ask` says of it.
struct FrameAnswer {
  int64_t frame = 0;
  Answer answer;
};

// An answer from several frames at once.
struct FilmAnswer {
  std::vector<int64_t> frames;
  Reply reply;
};

ordered_json to_json(const FilmAnswer& film) {
  const Reply& reply = film.reply;
  return {{"frames", film.frames},
          {"text", reply.text},
          {"confidence", rounded(reply.confidence)},
          {"tokens", reply.kept.at(0)},
          {"prompt_tokens", reply.prompt_tokens},
          {"completion_tokens", reply.completion_tokens}};
}

std::string to_text(const FilmAnswer& film) {
  return "answer     " + (film.reply.text.empty() ? "(nothing)" : film.reply.text) + "  (" +
         std::to_string(film.frames.size()) + " frames, " + std::to_string(film.reply.kept.at(0)) +
         " tokens, confidence " + fixed(film.reply.confidence, 2) + ")";
}

ordered_json to_json(const FrameAnswer& reply) {
  ordered_json out = {{"frame", reply.frame}};
  out.update(arrcoc::to_json(reply.answer));
  return out;
}

std::string to_text(const FrameAnswer& reply) {
  const Answer& answer = reply.answer;
  return "answer     " + (answer.text.empty() ? "(nothing)" : answer.text) +
         (answer.unsure ? "  (unsure)" : "") + "  (frame " + std::to_string(reply.frame) + ", " +
         std::to_string(answer.tokens) + " tokens, confidence " + fixed(answer.confidence, 2) + ")";
}

class Session {
 public:
  Session(const Watch& args, const WatchFlags& flags, const media::LoadOptions& load)
      : args_(args),
        question_(parse_query(args.question)),
        options_(flags.pipeline()),
        reading_(flags.reading()),
        on_canvas_(flags.canvas_given()),
        video_(Video::open(args.source, load)),
        asker_(args.answer != "none" ? bundle() : bundle_for(options_)),
        looker_(asker_.looker(options_)),
        follower_(timing(flags), media::dis_flow(), media::slic_segments()) {
    if (args.answer == "end" && args.model.empty()) plan_ = filming::plan_of(question_);
    if (!args.model.empty())
      model_ = open_model(args.model,
                          {.mode = ReadMode::prune, .device = args.device, .dtype = args.dtype});
    if (model_ && !reads_films(*model_))
      throw Error(ErrorCode::unsupported, args.model +
                                              ": watch --model wants Qwen2-VL, Qwen2.5-VL "
                                              "or Qwen3-VL, which read films");
    if (!args.video.empty()) writer_ = std::make_unique<media::VideoWriter>(args.video, fps());
  }

  void run() {
    std::optional<Progress> progress;
    if (const int64_t all = expected(); all > 0)
      progress.emplace("frames", static_cast<size_t>(all));
    while (args_.max_frames == 0 || frames_ < args_.max_frames) {
      Stopwatch watch;
      const std::optional<VideoFrame> frame = video_.read();
      decoding_ += watch.lap();
      if (!frame) break;
      if (progress) progress->clear();
      if (frames_ == 0 && frame->broken().empty()) prepare(*frame);
      take(*frame);
      if (progress) progress->step();
    }
    progress.reset();
    if (frames_ == broken_)
      throw Error(ErrorCode::bad_image, "no frame of " + args_.source + " could be read: " + why_);
    finish();
  }

 private:
  double fps() const { return args_.fps > 0 ? args_.fps : video_.fps(); }

  // Frames to come; 0: nobody knows.
  int64_t expected() const {
    const int64_t said = video_.expected(), most = args_.max_frames;
    return said > 0 && most > 0 ? std::min(said, most) : std::max(said, most);
  }

  filming::Options timing(const WatchFlags& flags) const {
    filming::Options out = flags.timing(asker_.bundle() ? asker_.bundle()->film : FilmConstants{});
    out.interest = filming::interest_in(question_);
    if (args_.rate > 0) out.allowance.rate = std::min<double>(args_.rate, out.allowance.most);
    if (args_.clip_budget > 0) {
      out.allowance.total = args_.clip_budget;
      const int64_t frames = expected();
      if (frames == 0)
        throw Error(ErrorCode::bad_argument,
                    "--clip-budget needs --max-frames here: " + args_.source +
                        " does not say how long it is; --rate works without");
      out.allowance.rate =
          std::min<double>(out.allowance.most, static_cast<double>(args_.clip_budget) / frames);
    }
    return out;
  }

  // The network's kernels are made when a first picture of that size is seen, here an empty one: as
  // loading its weights that happens once and has nothing to do with following.
  void prepare(const VideoFrame& frame) {
    if (options_.look.coupling != kNetwork) return;
    Stopwatch watch;
    const at::Tensor empty = at::full({3, frame.height(), frame.width()}, 128, at::kByte);
    filming::look_at(*looker_, make_picture(empty), question_);
    preparing_ = watch.lap();
  }

  void take(const VideoFrame& frame) {
    ++frames_;
    Stopwatch watch;
    Step step = frame.broken().empty() ? followed(frame) : follower_.missing(frame.broken());
    allocating_ += watch.lap();
    std::optional<FrameAnswer> reply;
    if (!frame.broken().empty()) {
      ++broken_;
      why_ = frame.broken();
    } else {
      reply = answered(frame, step);
    }
    cuts_ += step.cut;
    timeline_.add(step);
    if (writer_) writer_->write(media::draw_step(frame, step));
    if (args_.json) {
      std::cout << line(frame, step, reply).dump() << "\n" << std::flush;
    } else {
      say(step, reply);
    }
  }

  Step followed(const VideoFrame& frame) {
    const Geometry geometry = geometry_of(frame.width(), frame.height(), options_);
    return follower_.step(frame.thumb(), geometry, [&] {
      return filming::look_at(*looker_, frame.picture(), question_, follower_.motion());
    });
  }

  // A frame is kept when it is the most relevant so far; a later one wins a tie.
  std::optional<FrameAnswer> answered(const VideoFrame& frame, const Step& step) {
    if (args_.answer == "none") return std::nullopt;
    if (model_) {
      keep(frame, step);
      return std::nullopt;
    }
    if (plan_) {
      const double seconds = static_cast<double>(step.frame) / fps();
      moments_.add(step, seconds, [frame] { return frame.picture(); });
      return std::nullopt;
    }
    if (!best_ || step.strength >= best_->second.strength) best_.emplace(frame, step);
    const bool event = step.frame == 0 || step.cut;
    if (args_.answer != "events" || !event) return std::nullopt;
    return reply(frame, step.frame);
  }

  // Frames that tokens were spent on: those that begin a shot, as the others add to them, and the
  // most relevant ones.
  void keep(const VideoFrame& frame, const Step& step) {
    if (step.tokens == 0) return;
    kept_.emplace_back(frame, step);
    if (kept_.size() <= kMostRead) return;
    const auto rank = [](const Step& s) { return s.strength + (s.cut || s.frame == 0 ? 1 : 0); };
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [&](const auto& a, const auto& b) {
      return rank(a.second) < rank(b.second);
    }));
  }

  FilmAnswer read_kept() const {
    std::vector<Picture> pictures;
    for (const auto& [frame, step] : kept_) pictures.push_back(frame.picture());
    FilmAnswer out;
    std::vector<FilmFrame> frames;
    for (size_t i = 0; i < kept_.size(); ++i) {
      const Step& step = kept_[i].second;
      out.frames.push_back(step.frame);
      frames.push_back(
          {&pictures[i], static_cast<double>(step.frame) / fps(), filming::bought(step)});
    }
    GenerateOptions generate;
    generate.max_new_tokens = args_.max_new_tokens;
    out.reply = read_film(*model_, frames, args_.question, generate);
    return out;
  }

  // The frame is asked as a picture by itself, with all that --budget allows.
  FrameAnswer reply(const VideoFrame& frame, int64_t number) const {
    return {number, asker_.ask(frame.picture(), args_.question, reading_)};
  }

  std::optional<filming::TimeAnswer> over_time() const {
    if (!plan_ || moments_.empty()) return std::nullopt;
    filming::TimeOptions options;
    options.ask = reading_;
    options.tokens = args_.moments_budget;
    return filming::answer(asker_, *plan_, moments_, options);
  }

  ordered_json line(const VideoFrame& frame, const Step& step,
                    const std::optional<FrameAnswer>& reply) const {
    ordered_json out;
    out["frame"] = step.frame;
    out["tokens"] = step.tokens;
    out["coherence"] = step.coherence ? ordered_json(rounded(*step.coherence)) : nullptr;
    out["cut"] = step.cut;
    out["motion"] = rounded(step.motion.empty() ? 0 : mean(step.motion));
    out["looked"] = step.looked;
    const Allocation& a = step.allocation;
    if (on_canvas_) out["canvas"] = {{"width", a.geometry.width}, {"height", a.geometry.height}};
    // In pixels of the input, but for a canvas that was asked for.
    const double scale = on_canvas_ || frame.width() == 0
                             ? shown_scale_
                             : static_cast<double>(frame.width()) / a.geometry.width;
    shown_scale_ = scale;
    out["leaves"] = leaves_json(a, scale);
    if (reply) out["answer"] = to_json(*reply);
    if (!step.notes.empty()) out["notes"] = step.notes;
    return out;
  }

  void say(const Step& step, const std::optional<FrameAnswer>& reply) const {
    for (const std::string& note : step.notes)
      std::cout << "frame " << step.frame << "  note: " << note << "\n";
    if (step.cut) std::cout << "frame " << step.frame << "  cut\n";
    if (reply) std::cout << to_text(*reply) << "\n";
  }

  void finish() {
    std::optional<FrameAnswer> last;
    const bool asks_frame = args_.answer == "end" || args_.answer == "frame";
    if (asks_frame && best_) last = reply(best_->first, best_->second.frame);
    std::optional<FilmAnswer> film;
    if (model_ && !kept_.empty()) film = read_kept();
    const std::optional<filming::TimeAnswer> time = over_time();
    if (writer_) writer_->finish();
    if (!args_.timeline.empty()) media::write_png(args_.timeline, timeline_.draw());
    const std::string ending = args_.max_frames > 0 ? "" : video_.ending();
    if (args_.json) {
      // One line a frame on standard output; what concerns the whole film goes beside it.
      if (last) std::cerr << ordered_json{{"answer", to_json(*last)}}.dump() << "\n";
      if (film) std::cerr << ordered_json{{"answer", to_json(*film)}}.dump() << "\n";
      if (time) std::cerr << ordered_json{{"answer", cli::to_json(*time)}}.dump() << "\n";
      if (!ending.empty()) std::cerr << "arrcoc: note: " << ending << "\n";
      return;
    }
    const auto n = static_cast<double>(frames_);
    std::cout << args_.source << "\nquestion   " << args_.question << "\nframes     " << frames_
              << (broken_ > 0 ? ", " + std::to_string(broken_) + " of them broken" : "") << ", "
              << cuts_ << (cuts_ == 1 ? " cut" : " cuts") << "\ntokens     " << follower_.spent()
              << " in all, " << rounded(static_cast<double>(follower_.spent()) / n)
              << " a frame\nlooks      " << follower_.close_looks() << " close ones\ntime       "
              << rounded(preparing_) << " ms preparing once, " << rounded(decoding_ / n)
              << " ms decoding, " << rounded(allocating_ / n) << " ms allocating a frame\n";
    if (last) std::cout << to_text(*last) << "\n";
    if (film) std::cout << to_text(*film) << "\n";
    if (time) std::cout << cli::to_text(*time) << "\n";
    if (!ending.empty()) std::cout << "note       " << ending << "\n";
  }

  const Watch& args_;
  Query question_;
  AskOptions options_;  // of following
  AskOptions reading_;  // of answers
  bool on_canvas_;
  Video video_;
  Asker asker_;
  std::shared_ptr<const Looker> looker_;
  filming::Follower follower_;
  std::unique_ptr<media::VideoWriter> writer_;
  media::Timeline timeline_;
  std::optional<std::pair<VideoFrame, Step>> best_;
  std::optional<filming::Plan> plan_;  // of a question over time
  filming::Moments moments_;           // for it
  std::shared_ptr<const Model> model_;
  std::vector<std::pair<VideoFrame, Step>> kept_;         // for it
  double preparing_ = 0, decoding_ = 0, allocating_ = 0;  // milliseconds
  int64_t frames_ = 0, broken_ = 0, cuts_ = 0;
  std::string why_;
  mutable double shown_scale_ = 1;
};

}  // namespace

void add_watch(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("watch", "tokens that follow a film, and an answer");
  auto args = std::make_shared<Watch>();
  sub->add_option("source", args->source, "video file, folder of pictures, camera or camera:N")
      ->required();
  sub->add_option("question", args->question, "what is asked")->required();
  sub->add_option("--answer", args->answer,
                  "end (questions over time from several moments, others from the most relevant "
                  "frame), frame (from that frame alone), events (at the start and at cuts), none")
      ->check(CLI::IsMember({"end", "frame", "events", "none"}));
  sub->add_option("--max-frames", args->max_frames, "stop after so many frames")->check(positive());
  sub->add_option("--clip-budget", args->clip_budget, "tokens for the whole film")
      ->check(positive());
  sub->add_option("--moments-budget", args->moments_budget,
                  "tokens for the moments of a question over time")
      ->check(CLI::Range(64, 1 << 20));
  sub->add_option("--fps", args->fps, "frames a second, where the source does not say it (folders)")
      ->check(positive());
  sub->add_option("--rate", args->rate, "tokens a frame on average; --budget is the most")
      ->check(positive());
  sub->add_option("--video", args->video, "write the annotated film (.mp4, .mkv, .mov, .avi)");
  sub->add_option("--timeline", args->timeline, "write tokens, motion and cuts over time (PNG)");
  sub->add_flag("--json", args->json, "one line a frame: frame, tokens, coherence, cut, leaves");
  const auto own = [&](const char* name, auto& target, const char* help) {
    return sub->add_option(name, target, help)->group("Hugging Face model");
  };
  own("--model", args->model,
      "Qwen2-VL, Qwen2.5-VL or Qwen3-VL that reads the film at the end, in one sequence: a folder, "
      "or OWNER/NAME[@REVISION] of Hugging Face's hub");
  own("--device", args->device, "cpu, cuda or cuda:N; of the bundled networks, too");
  own("--dtype", args->dtype,
      "float32, bfloat16 or float16; of the bundled model where that answers; of others int8, too "
      "(on the CPU)");
  own("--max-new-tokens", args->max_new_tokens, "length of an answer, at most")
      ->check(CLI::Range(1, 1 << 20));
  const WatchFlags flags(*sub);
  auto load = add_load_flags(*sub);
  sub->callback([args, flags, load, sub, hub = HubFlags(*sub)] {
    if (args->model.empty() && sub->count("--max-new-tokens") > 0)
      throw Error(ErrorCode::bad_argument, "--max-new-tokens needs --model");
    place_networks(sub->count("--device") > 0 ? &args->device : nullptr,
                   args->model.empty() && sub->count("--dtype") > 0 ? &args->dtype : nullptr);
    if (!args->model.empty() && args->answer == "events")
      throw Error(ErrorCode::bad_argument, "--model reads the film at its end: --answer end");
    if (!args->model.empty()) args->model = hub.folder(args->model);
    Session(*args, flags, *load).run();
  });
}

}  // namespace arrcoc::cli
