/* api_test FOLDER_OF_PICTURES: the C interface, used rightly and wrongly. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

static const char* const kQuestion = "What is the total?";

static char* path_in(const char* folder, const char* name) {
  char* out = malloc(strlen(folder) + strlen(name) + 2);
  if (out == NULL) abort();
  sprintf(out, "%s/%s", folder, name);
  return out;
}

static unsigned char* read_all(const char* path, size_t* count) {
  FILE* file = fopen(path, "rb");
  unsigned char* out = malloc(1 << 24);
  if (file == NULL || out == NULL) abort();
  *count = fread(out, 1, 1 << 24, file);
  fclose(file);
  return out;
}

/* The caller frees. */
static uint8_t* packed(const arrcoc_picture* picture, size_t* bytes) {
  uint8_t* out;
  *bytes = (size_t)arrcoc_picture_width(picture) * (size_t)arrcoc_picture_height(picture) * 3;
  out = malloc(*bytes);
  if (out == NULL) abort();
  CHECK(arrcoc_picture_copy_rgb(picture, out, *bytes) == ARRCOC_OK);
  return out;
}

static arrcoc_answer* look(const arrcoc_model* model, const arrcoc_picture* picture,
                           const char* options, const char* budget) {
  arrcoc_ask_params params;
  arrcoc_answer* out = NULL;
  CHECK(arrcoc_ask_params_init(&params, sizeof params) == ARRCOC_OK);
  params.options = options;
  params.budget = budget;
  CHECK(arrcoc_look(model, picture, kQuestion, &params, &out) == ARRCOC_OK);
  return out;
}

static int same_map(const arrcoc_answer* a, const arrcoc_answer* b) {
  arrcoc_map ma, mb;
  CHECK(arrcoc_answer_map(a, 0, &ma) == ARRCOC_OK && arrcoc_answer_map(b, 0, &mb) == ARRCOC_OK);
  return ma.rows == mb.rows && ma.cols == mb.cols && ma.cell_width == mb.cell_width &&
         memcmp(ma.values, mb.values, sizeof(float) * (size_t)ma.rows * (size_t)ma.cols) == 0;
}

static void structs_know_their_size(void) {
  arrcoc_ask_params ask;
  arrcoc_load_params load;
  arrcoc_picture_params decode;
  CHECK(arrcoc_ask_params_init(&ask, sizeof ask) == ARRCOC_OK && ask.size == sizeof ask);
  CHECK(ask.policy == NULL && ask.budget == NULL && ask.passes == 0 && ask.threshold < 0);
  CHECK(arrcoc_load_params_init(&load, sizeof load) == ARRCOC_OK && load.model == NULL);
  CHECK(arrcoc_picture_params_init(&decode, sizeof decode) == ARRCOC_OK);
  CHECK(decode.max_megapixels == 100 && decode.page == 1 && decode.apart == 0);
  REFUSED(arrcoc_ask_params_init(NULL, sizeof ask), ARRCOC_BAD_ARGUMENT, "NULL");
  REFUSED(arrcoc_ask_params_init(&ask, 3), ARRCOC_BAD_ARGUMENT, "size is not set");
  REFUSED(arrcoc_ask_params_init(&ask, sizeof ask + 8), ARRCOC_UNSUPPORTED, "newer");
}

static void names_of_statuses(void) {
  CHECK(strcmp(arrcoc_status_name(ARRCOC_OK), "ok") == 0);
  CHECK(strcmp(arrcoc_status_name(ARRCOC_BAD_WEIGHTS), "bad_weights") == 0);
  CHECK(strcmp(arrcoc_status_name(ARRCOC_INTERNAL), "internal") == 0);
  CHECK(strcmp(arrcoc_status_name((arrcoc_status)77), "unknown") == 0);
  CHECK(strchr(arrcoc_version(), '.') != NULL);
}

static void wrong_pictures(const char* receipt) {
  arrcoc_picture* picture = (arrcoc_picture*)&picture;
  arrcoc_picture_params params;
  arrcoc_pixels pixels = {NULL, 4, 4, 12, 3, 1};
  uint8_t room[48] = {0};
  REFUSED(arrcoc_picture_from_file("/nowhere/a.jpg", NULL, &picture), ARRCOC_NOT_FOUND, "a.jpg");
  CHECK(picture == NULL);
  REFUSED(arrcoc_picture_from_file(NULL, NULL, &picture), ARRCOC_BAD_ARGUMENT, "path");
  REFUSED(arrcoc_picture_from_file(receipt, NULL, NULL), ARRCOC_BAD_ARGUMENT, "out");
  REFUSED(arrcoc_picture_from_bytes("no picture", 10, NULL, &picture), ARRCOC_BAD_IMAGE, "");
  REFUSED(arrcoc_picture_from_bytes("", 0, NULL, &picture), ARRCOC_BAD_IMAGE, "");
  REFUSED(arrcoc_picture_from_bytes(NULL, 5, NULL, &picture), ARRCOC_BAD_ARGUMENT, "bytes");
  CHECK(arrcoc_picture_params_init(&params, sizeof params) == ARRCOC_OK);
  params.max_megapixels = 0.01;
  REFUSED(arrcoc_picture_from_file(receipt, &params, &picture), ARRCOC_TOO_LARGE, "receipt");
  params.max_megapixels = -1;
  REFUSED(arrcoc_picture_from_file(receipt, &params, &picture), ARRCOC_BAD_ARGUMENT, "more than 0");
  params.size = 0;
  REFUSED(arrcoc_picture_from_file(receipt, &params, &picture), ARRCOC_BAD_ARGUMENT, "size");
  REFUSED(arrcoc_picture_from_pixels(&pixels, &picture), ARRCOC_BAD_ARGUMENT, "data");
  REFUSED(arrcoc_picture_from_pixels(NULL, &picture), ARRCOC_BAD_ARGUMENT, "pixels");
  pixels.data = room;
  pixels.width = 0;
  REFUSED(arrcoc_picture_from_pixels(&pixels, &picture), ARRCOC_BAD_IMAGE, "one pixel");
  pixels.width = pixels.height = 1 << 20;
  REFUSED(arrcoc_picture_from_pixels(&pixels, &picture), ARRCOC_TOO_LARGE, "megapixels");
  pixels.width = pixels.height = 4;
  CHECK(arrcoc_picture_from_pixels(&pixels, &picture) == ARRCOC_OK);
  REFUSED(arrcoc_picture_copy_rgb(picture, room, 47), ARRCOC_BAD_ARGUMENT, "48 bytes");
  REFUSED(arrcoc_picture_copy_rgb(picture, NULL, 48), ARRCOC_BAD_ARGUMENT, "out");
  REFUSED(arrcoc_picture_copy_rgb(NULL, room, 48), ARRCOC_BAD_ARGUMENT, "picture");
  CHECK(arrcoc_picture_width(NULL) == 0 && arrcoc_picture_height(NULL) == 0);
  arrcoc_picture_free(picture);
  arrcoc_picture_free(NULL);
}

static void wrong_models(const char* folder) {
  arrcoc_model* model = NULL;
  arrcoc_load_params params;
  CHECK(arrcoc_load_params_init(&params, sizeof params) == ARRCOC_OK);
  params.model = "/nowhere";
  REFUSED(arrcoc_model_load(&params, &model), ARRCOC_NOT_FOUND, "/nowhere");
  params.model = folder; /* pictures, no weights */
  CHECK(arrcoc_model_load(&params, &model) != ARRCOC_OK && model == NULL);
  params.mode = "blur";
  REFUSED(arrcoc_model_load(&params, &model), ARRCOC_BAD_ARGUMENT, "blur");
  params.threads = -1;
  REFUSED(arrcoc_model_load(&params, &model), ARRCOC_BAD_ARGUMENT, "threads");
  params.threads = 0;
  params.kernels = "quick";
  REFUSED(arrcoc_model_load(&params, &model), ARRCOC_BAD_ARGUMENT, "quick");
  REFUSED(arrcoc_model_load(NULL, NULL), ARRCOC_BAD_ARGUMENT, "out");
  CHECK(strcmp(arrcoc_model_name(NULL), "") == 0);
  arrcoc_model_free(NULL);
}

static void wrong_questions(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* answer = NULL;
  arrcoc_ask_params params;
  const arrcoc_picture* pictures[2];
  char* longest = malloc(9001);
  if (longest == NULL) abort();
  memset(longest, 'a', 9000);
  longest[9000] = '\0';
  pictures[0] = picture;
  pictures[1] = NULL;
  REFUSED(arrcoc_ask(NULL, picture, "a?", NULL, &answer), ARRCOC_BAD_ARGUMENT, "model");
  REFUSED(arrcoc_ask(model, NULL, "a?", NULL, &answer), ARRCOC_BAD_ARGUMENT, "picture");
  REFUSED(arrcoc_ask(model, picture, NULL, NULL, &answer), ARRCOC_BAD_ARGUMENT, "question");
  REFUSED(arrcoc_ask(model, picture, "  ", NULL, &answer), ARRCOC_BAD_ARGUMENT, "");
  REFUSED(arrcoc_ask(model, picture, "\xff\xfe?", NULL, &answer), ARRCOC_BAD_ARGUMENT, "UTF-8");
  REFUSED(arrcoc_look(model, picture, longest, NULL, &answer), ARRCOC_TOO_LARGE, "");
  REFUSED(arrcoc_look(model, picture, "a?", NULL, NULL), ARRCOC_BAD_ARGUMENT, "out");
  REFUSED(arrcoc_ask_several(model, pictures, 2, "a?", NULL, &answer), ARRCOC_BAD_ARGUMENT, "NULL");
  REFUSED(arrcoc_ask_several(model, pictures, 0, "a?", NULL, &answer), ARRCOC_BAD_ARGUMENT,
          "no picture");
  REFUSED(arrcoc_ask_several(model, NULL, 1, "a?", NULL, &answer), ARRCOC_BAD_ARGUMENT, "pictures");
  CHECK(arrcoc_ask_params_init(&params, sizeof params) == ARRCOC_OK);
  params.policy = "nobody";
  REFUSED(arrcoc_look(model, picture, "a?", &params, &answer), ARRCOC_NOT_FOUND, "nobody");
  params.policy = NULL;
  params.options = "{\"budgt\": 3}";
  REFUSED(arrcoc_look(model, picture, "a?", &params, &answer), ARRCOC_BAD_JSON, "budgt");
  params.options = "[[[[[[[[[[[[";
  REFUSED(arrcoc_look(model, picture, "a?", &params, &answer), ARRCOC_BAD_JSON, "options");
  params.options = NULL;
  params.budget = "0";
  REFUSED(arrcoc_look(model, picture, "a?", &params, &answer), ARRCOC_BAD_ARGUMENT, "");
  params.budget = NULL;
  params.passes = 99;
  REFUSED(arrcoc_ask(model, picture, "a?", &params, &answer), ARRCOC_BAD_ARGUMENT, "passes");
  params.passes = 0;
  params.threshold = 2;
  REFUSED(arrcoc_ask(model, picture, "a?", &params, &answer), ARRCOC_BAD_ARGUMENT, "threshold");
  CHECK(answer == NULL);
  free(longest);
}

static void wrong_uses_of_an_answer(const arrcoc_answer* answer) {
  arrcoc_map map;
  arrcoc_tokens* tokens = NULL;
  arrcoc_summary summary;
  arrcoc_view view;
  char* text = NULL;
  size_t count = 5;
  uint8_t byte;
  REFUSED(arrcoc_answer_map(answer, 1, &map), ARRCOC_BAD_ARGUMENT, "no picture 1");
  REFUSED(arrcoc_answer_map(answer, -1, &map), ARRCOC_BAD_ARGUMENT, "no picture -1");
  REFUSED(arrcoc_answer_map(answer, 0, NULL), ARRCOC_BAD_ARGUMENT, "out");
  REFUSED(arrcoc_answer_tokens(NULL, 0, &tokens), ARRCOC_BAD_ARGUMENT, "answer");
  REFUSED(arrcoc_answer_json(answer, 0, NULL), ARRCOC_BAD_ARGUMENT, "out");
  REFUSED(arrcoc_answer_json(NULL, 0, &text), ARRCOC_BAD_ARGUMENT, "answer");
  REFUSED(arrcoc_answer_regions(answer, 0, NULL, 3, &count), ARRCOC_BAD_ARGUMENT, "regions");
  CHECK(count == 0);
  CHECK(arrcoc_answer_views(answer, 0, &view, 1, &count) == ARRCOC_OK && count == 0);
  REFUSED(arrcoc_answer_view_rgb(answer, 0, 0, &byte, 1), ARRCOC_BAD_ARGUMENT, "no view 0");
  summary.size = 1;
  REFUSED(arrcoc_answer_summary(answer, &summary), ARRCOC_BAD_ARGUMENT, "size");
  CHECK(arrcoc_tokens_count(NULL) == 0 && arrcoc_tokens_list(NULL) == NULL);
  CHECK(arrcoc_tokens_patches(NULL) == NULL && strcmp(arrcoc_answer_text(NULL), "") == 0);
  arrcoc_answer_free(NULL);
  arrcoc_tokens_free(NULL);
  arrcoc_text_free(NULL);
}

static void answers(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* answer = NULL;
  arrcoc_summary summary;
  char* text = NULL;
  CHECK(arrcoc_ask(model, picture, kQuestion, NULL, &answer) == ARRCOC_OK);
  CHECK(strcmp(arrcoc_answer_text(answer), "33.10") == 0);
  summary.size = sizeof summary;
  CHECK(arrcoc_answer_summary(answer, &summary) == ARRCOC_OK);
  CHECK(summary.read && summary.pictures == 1 && summary.picture == 0 && summary.calibrated);
  CHECK(summary.confidence > 0 && summary.confidence <= 1 && summary.has_box);
  CHECK(summary.box.x1 > summary.box.x0 && summary.box.x1 <= (float)arrcoc_picture_width(picture));
  CHECK(summary.tokens > 0 && summary.tokens <= 400 && summary.native_tokens > summary.tokens);
  CHECK(arrcoc_answer_json(answer, 0, &text) == ARRCOC_OK);
  CHECK(strstr(text, "\"answer\":\"33.10\"") != NULL && strstr(text, "\"leaves\"") == NULL);
  arrcoc_text_free(text);
  CHECK(arrcoc_answer_json(answer, 1, &text) == ARRCOC_OK && strstr(text, "\"leaves\"") != NULL);
  arrcoc_text_free(text);
  wrong_uses_of_an_answer(answer);
  arrcoc_answer_free(answer);
}

static void several_pictures(const arrcoc_model* model, const arrcoc_picture* a,
                             const arrcoc_picture* b) {
  const arrcoc_picture* both[2];
  arrcoc_answer* answer = NULL;
  arrcoc_summary summary;
  arrcoc_map map;
  both[0] = a;
  both[1] = b;
  CHECK(arrcoc_ask_several(model, both, 2, kQuestion, NULL, &answer) == ARRCOC_OK);
  summary.size = sizeof summary;
  CHECK(arrcoc_answer_summary(answer, &summary) == ARRCOC_OK && summary.pictures == 2);
  CHECK(arrcoc_answer_map(answer, 1, &map) == ARRCOC_OK && map.rows > 0);
  arrcoc_answer_free(answer);
}

/* The same pixels by other ways in give the same map, bit for bit; other pixels do not. */
static void every_way_in_is_the_same(const arrcoc_model* model, const arrcoc_picture* picture,
                                     const char* path) {
  size_t count, bytes, i;
  unsigned char* file = read_all(path, &count);
  uint8_t *rgb = packed(picture, &bytes), *other = malloc(bytes);
  const int w = arrcoc_picture_width(picture), h = arrcoc_picture_height(picture);
  const ptrdiff_t row = 3 * (ptrdiff_t)w, plane = (ptrdiff_t)w * h;
  arrcoc_answer *wanted = look(model, picture, NULL, NULL), *got;
  arrcoc_picture* made = NULL;
  arrcoc_pixels ways[4];
  int way;
  if (other == NULL) abort();
  CHECK(arrcoc_picture_from_bytes(file, count, NULL, &made) == ARRCOC_OK);
  got = look(model, made, NULL, NULL);
  CHECK(same_map(wanted, got));
  arrcoc_answer_free(got);
  arrcoc_picture_free(made);
  for (way = 0; way < 4; ++way) {
    const arrcoc_pixels straight = {rgb, w, h, row, 3, 1};
    const arrcoc_pixels reversed = {other + bytes - 3, w, h, -row, -3, 1}; /* last pixel first */
    const arrcoc_pixels bgr = {other + 2, w, h, row, 3, -1};
    const arrcoc_pixels planar = {other, w, h, w, 1, plane};
    for (i = 0; i < bytes; ++i) {
      const size_t c = i % 3, pixel = i / 3;
      if (way == 1) other[bytes - 3 - 3 * pixel + c] = rgb[i];
      if (way == 2) other[3 * pixel + 2 - c] = rgb[i];
      if (way == 3) other[c * (size_t)plane + pixel] = rgb[i];
    }
    ways[0] = straight, ways[1] = reversed, ways[2] = bgr, ways[3] = planar;
    CHECK(arrcoc_picture_from_pixels(&ways[way], &made) == ARRCOC_OK);
    got = look(model, made, NULL, NULL);
    CHECK(same_map(wanted, got));
    arrcoc_answer_free(got);
    arrcoc_picture_free(made);
  }
  ways[0].pixel_stride = 3, ways[0].channel_stride = 0; /* grey: another picture */
  CHECK(arrcoc_picture_from_pixels(&ways[0], &made) == ARRCOC_OK);
  got = look(model, made, NULL, NULL);
  CHECK(!same_map(wanted, got));
  arrcoc_answer_free(got);
  arrcoc_picture_free(made);
  arrcoc_answer_free(wanted);
  free(other);
  free(rgb);
  free(file);
}

/* At native detail a patch holds the picture's own pixels. */
static void patches_are_pixels(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* seen = look(model, picture, "{\"least_side\": 0, \"most_side\": 0}", "180");
  arrcoc_tokens* tokens = NULL;
  size_t bytes, i, native = 0, wrong = 0;
  uint8_t* rgb = packed(picture, &bytes);
  const int w = arrcoc_picture_width(picture), h = arrcoc_picture_height(picture);
  CHECK(arrcoc_answer_tokens(seen, 0, &tokens) == ARRCOC_OK);
  CHECK(arrcoc_tokens_count(tokens) > 100 && arrcoc_tokens_count(tokens) <= 180);
  for (i = 0; i < arrcoc_tokens_count(tokens); ++i) {
    const arrcoc_token* token = arrcoc_tokens_list(tokens) + i;
    const uint8_t* patch = arrcoc_tokens_patches(tokens) + i * 3 * ARRCOC_PATCH * ARRCOC_PATCH;
    int c, y, x;
    CHECK(token->box.x0 >= 0 && token->box.x0 < token->box.x1 && token->box.x1 <= (float)w);
    CHECK(token->box.y0 >= 0 && token->box.y0 < token->box.y1 && token->box.y1 <= (float)h);
    if (token->level != 0) continue;
    ++native;
    for (c = 0; c < 3; ++c)
      for (y = (int)token->box.y0; y < (int)token->box.y1; ++y)
        for (x = (int)token->box.x0; x < (int)token->box.x1; ++x)
          wrong += patch[(c * ARRCOC_PATCH + y - (int)token->box.y0) * ARRCOC_PATCH + x -
                         (int)token->box.x0] != rgb[(y * w + x) * 3 + c];
  }
  CHECK(native > 0 && wrong == 0);
  arrcoc_tokens_free(tokens);
  arrcoc_answer_free(seen);
  free(rgb);
}

static void views_fit_the_budget(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* seen =
      look(model, picture, "{\"allocator\": \"zoom\", \"token_pixels\": 32}", "128");
  arrcoc_view views[8];
  size_t count = 0, i;
  int tokens = 0;
  CHECK(arrcoc_answer_views(seen, 0, views, 8, &count) == ARRCOC_OK && count >= 2 && count <= 4);
  for (i = 0; i < count; ++i) {
    const size_t bytes = (size_t)views[i].width * (size_t)views[i].height * 3;
    uint8_t* pixels = calloc(bytes, 1);
    if (pixels == NULL) abort();
    CHECK(views[i].width % 32 == 0 && views[i].height % 32 == 0);
    CHECK(views[i].tokens == views[i].width / 32 * (views[i].height / 32));
    tokens += views[i].tokens;
    CHECK(arrcoc_answer_view_rgb(seen, 0, (int)i, pixels, bytes) == ARRCOC_OK);
    CHECK(memchr(pixels, 0xF0, bytes) != NULL || pixels[bytes / 2] != 0);
    REFUSED(arrcoc_answer_view_rgb(seen, 0, (int)i, pixels, bytes - 1), ARRCOC_BAD_ARGUMENT,
            "room");
    free(pixels);
  }
  CHECK(tokens <= 128 && views[0].box.x0 == 0 && views[0].box.y0 == 0);
  CHECK(views[0].box.x1 == (float)arrcoc_picture_width(picture));
  CHECK(arrcoc_answer_views(seen, 0, NULL, 0, &i) == ARRCOC_OK && i == count);
  arrcoc_answer_free(seen);
}

static void regions_stand_out(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* seen = look(model, picture, NULL, NULL);
  arrcoc_region regions[4];
  size_t count = 0, fewer = 9, i;
  CHECK(arrcoc_answer_regions(seen, 0, regions, 4, &count) == ARRCOC_OK && count >= 1);
  for (i = 1; i < count; ++i) CHECK(regions[i].strength <= regions[i - 1].strength);
  CHECK(arrcoc_answer_regions(seen, 0, NULL, 0, &fewer) == ARRCOC_OK && fewer == 0);
  arrcoc_answer_free(seen);
}

struct job {
  const arrcoc_model* model; /* NULL: loads its own */
  const arrcoc_picture* picture;
  const arrcoc_answer* wanted;
  int right;
};

static void* work(void* given) {
  struct job* job = given;
  arrcoc_model* own = NULL;
  int round;
  if (job->model == NULL && arrcoc_model_load(NULL, &own) != ARRCOC_OK) return NULL;
  for (round = 0; round < 2; ++round) {
    arrcoc_answer* got = NULL;
    arrcoc_picture* none = NULL;
    if (arrcoc_look(own ? own : job->model, job->picture, kQuestion, NULL, &got) != ARRCOC_OK)
      break;
    job->right += same_map(job->wanted, got);
    arrcoc_answer_free(got);
    /* The text of a failure is the thread's own. */
    arrcoc_picture_from_file(own ? "/own" : "/shared", NULL, &none);
    job->right += strstr(arrcoc_last_error(), own ? "/own" : "/shared") != NULL;
  }
  arrcoc_model_free(own);
  return NULL;
}

static void threads_do_not_meet(const arrcoc_model* model, const arrcoc_picture* picture) {
  arrcoc_answer* wanted = look(model, picture, NULL, NULL);
  struct job jobs[4];
  pthread_t threads[4];
  int i;
  for (i = 0; i < 4; ++i) {
    jobs[i].model = i < 2 ? model : NULL;
    jobs[i].picture = picture;
    jobs[i].wanted = wanted;
    jobs[i].right = 0;
    CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
  }
  for (i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(jobs[i].right == 4);
  }
  arrcoc_answer_free(wanted);
}

int main(int argc, char** argv) {
  char *receipt, *chart;
  arrcoc_model* model = NULL;
  arrcoc_picture *picture = NULL, *other = NULL;
  arrcoc_answer* kept = NULL;
  if (argc != 2) return 2;
  receipt = path_in(argv[1], "receipt.jpg");
  chart = path_in(argv[1], "chart.jpg");
  CHECK(arrcoc_live_handles() == 0 && strcmp(arrcoc_last_error(), "") == 0);
  structs_know_their_size();
  names_of_statuses();
  wrong_pictures(receipt);
  wrong_models(argv[1]);
  CHECK(arrcoc_live_handles() == 0);
  CHECK(arrcoc_model_load(NULL, &model) == ARRCOC_OK && strcmp(arrcoc_model_name(model), "") != 0);
  CHECK(arrcoc_picture_from_file(receipt, NULL, &picture) == ARRCOC_OK);
  CHECK(arrcoc_picture_from_file(chart, NULL, &other) == ARRCOC_OK);
  CHECK(arrcoc_live_handles() == 3);
  if (failures()) return 1;
  wrong_questions(model, picture);
  answers(model, picture);
  several_pictures(model, picture, other);
  every_way_in_is_the_same(model, picture, receipt);
  patches_are_pixels(model, picture);
  views_fit_the_budget(model, picture);
  regions_stand_out(model, picture);
  threads_do_not_meet(model, picture);
  kept = look(model, picture, NULL, NULL); /* outlives what it came from */
  arrcoc_model_free(model);
  arrcoc_picture_free(picture);
  arrcoc_picture_free(other);
  CHECK(arrcoc_live_handles() == 1);
  {
    arrcoc_tokens* tokens = NULL;
    CHECK(arrcoc_answer_tokens(kept, 0, &tokens) == ARRCOC_OK && arrcoc_tokens_count(tokens) > 60);
    arrcoc_answer_free(kept);
    arrcoc_tokens_free(tokens);
  }
  CHECK(arrcoc_live_handles() == 0);
  free(chart);
  free(receipt);
  return failures();
}
