/* ARR-COC for C (C99 and later) and for whatever can call C: the library arrcoc_c.
 *
 *   arrcoc_model* model;
 *   arrcoc_picture* picture;
 *   arrcoc_answer* answer;
 *   if (arrcoc_model_load(NULL, &model) == ARRCOC_OK &&
 *       arrcoc_picture_from_file("receipt.jpg", NULL, &picture) == ARRCOC_OK &&
 *       arrcoc_ask(model, picture, "What is the total?", NULL, &answer) == ARRCOC_OK)
 *     puts(arrcoc_answer_text(answer));
 *   else
 *     fprintf(stderr, "%s\n", arrcoc_last_error());
 *
 * Errors: functions that can fail return an arrcoc_status; out-parameters are set to NULL or 0
 * first and filled only with ARRCOC_OK. NULL where a pointer is needed, an index that is out of
 * range and a struct without its size are ARRCOC_BAD_ARGUMENT. No C++ exception comes out, nothing
 * is printed, the process is never ended.
 *
 * Ownership: a handle that a function gives out is the caller's and goes back to its own
 * ..._free(), in any order; free(NULL) does nothing. Pictures and answers share what they need:
 * an answer may outlive the model and the pictures. Pointers marked "borrowed" live as long as the
 * handle they came from. Text is UTF-8 and ends with a zero byte.
 *
 * Threads: handles never change after they were made, so any number of threads may use one at the
 * same time, with any others; only ..._free() must come after the last use. Tensor work inside a
 * call uses the threads of arrcoc_load_params.threads, a setting of the whole process. Not
 * async-signal-safe; after fork() only the parent may go on calling.
 *
 * Structs: those with a `size` grow at their end. Begin with ..._init(&p, sizeof p), which sets
 * the size and every default; NULL in their place means the defaults. A size that this library
 * does not know (a newer header) is ARRCOC_UNSUPPORTED.
 *
 * Environment: ARRCOC_MODELS names the folder that holds tiny/. The first load sets
 * ONEDNN_MAX_CPU_ISA and DNNL_MAX_CPU_ISA unless they are set (Debian's oneDNN 2.6 crashes on AMX
 * machines), so make it before other threads read the environment. OMP_WAIT_POLICY=PASSIVE, set
 * before the program starts, keeps idle threads from taking the cores of others. */
#ifndef ARRCOC_C_H
#define ARRCOC_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arrcoc_model arrcoc_model;     /* what looks and reads */
typedef struct arrcoc_picture arrcoc_picture; /* decoded pixels */
typedef struct arrcoc_answer arrcoc_answer;   /* of arrcoc_ask or arrcoc_look */
typedef struct arrcoc_tokens arrcoc_tokens;   /* the patches that a model would read */

typedef enum arrcoc_status {
  ARRCOC_OK = 0,
  ARRCOC_BAD_ARGUMENT = 1, /* an option or parameter has no such value */
  ARRCOC_BAD_IMAGE = 2,    /* bytes that are not a picture, or a broken one */
  ARRCOC_TOO_LARGE = 3,    /* a limit (pixels, question length, memory) would be passed */
  ARRCOC_UNSUPPORTED = 4,  /* a known thing that this build or model cannot do */
  ARRCOC_NOT_FOUND = 5,    /* no such file, strategy, page or tensor */
  ARRCOC_IO = 6,           /* reading or writing failed */
  ARRCOC_BAD_JSON = 7,     /* text that does not parse, or an unknown key */
  ARRCOC_BAD_WEIGHTS = 8,  /* a weight file that does not match what it should hold */
  ARRCOC_NUMERIC = 9,      /* NaN or infinity where a number is needed */
  ARRCOC_OUT_OF_MEMORY = 10,
  ARRCOC_INTERNAL = 11 /* a defect: please report the text */
} arrcoc_status;

/* "0.1.0"; static. */
const char* arrcoc_version(void);
/* "bad_argument", ...; "unknown" for a number that is none. Static. */
const char* arrcoc_status_name(arrcoc_status status);
/* Why the last failing call of this thread failed, one line; "" when none has. Borrowed until the
 * next failing call of this thread. */
const char* arrcoc_last_error(void);
/* Handles and texts of this process that were given out and not freed. */
int64_t arrcoc_live_handles(void);

/* ---- Models */

typedef struct arrcoc_load_params {
  size_t size;
  const char* model;   /* NULL: the bundled one; else a folder with weights of that architecture or
                          a Hugging Face checkpoint, or OWNER/NAME[@REVISION] of one that is in the
                          hub's cache (arrcoc models pull): nothing is fetched here */
  int threads;         /* for tensor work, of the whole process; 0: one a core */
  const char* mode;    /* Hugging Face: "auto", "native", "prune", "patches" or "zoom" */
  const char* device;  /* Hugging Face: "cpu", "cuda" or "cuda:N" */
  const char* dtype;   /* Hugging Face: NULL or "float32", "bfloat16", "float16", "int8" */
  const char* kernels; /* bundled networks: "auto" (NULL, $ARRCOC_KERNELS), "fast", "reference" */
} arrcoc_load_params;
arrcoc_status arrcoc_load_params_init(arrcoc_load_params* params, size_t size);

/* Reads a model. The bundled one is looked for in $ARRCOC_MODELS/tiny and below the installation
 * of this library or program. NOT_FOUND, BAD_WEIGHTS, BAD_JSON, UNSUPPORTED. */
arrcoc_status arrcoc_model_load(const arrcoc_load_params* params, arrcoc_model** out);
/* As answers name it. Borrowed; "" for NULL. */
const char* arrcoc_model_name(const arrcoc_model* model);
void arrcoc_model_free(arrcoc_model* model);

/* ---- Pictures */

typedef struct arrcoc_picture_params {
  size_t size;
  double max_megapixels; /* larger ones are refused before decoding; 100 */
  int page;              /* of a PDF, from 1 */
  double pdf_dpi;        /* 150 */
  int apart;             /* 1: decoded by the program arrcoc-decode, for files of strangers */
} arrcoc_picture_params;
arrcoc_status arrcoc_picture_params_init(arrcoc_picture_params* params, size_t size);

/* JPEG, PNG, WebP, TIFF, BMP, HEIC or a page of a PDF. NOT_FOUND, IO, BAD_IMAGE, TOO_LARGE,
 * UNSUPPORTED. "-" is standard input. */
arrcoc_status arrcoc_picture_from_file(const char* path, const arrcoc_picture_params* params,
                                       arrcoc_picture** out);
/* The same formats in memory: bytes [count]. The bytes are not needed afterwards. */
arrcoc_status arrcoc_picture_from_bytes(const void* bytes, size_t count,
                                        const arrcoc_picture_params* params, arrcoc_picture** out);

/* 8-bit RGB pixels somewhere in memory: channel c of pixel (x, y) is the byte at
 * data + y * row_stride + x * pixel_stride + c * channel_stride. Strides are in bytes and may be
 * negative: packed RGB has 3 * width, 3, 1; BGR is data + 2 with channel_stride -1; planar RGB has
 * width, 1, width * height. */
typedef struct arrcoc_pixels {
  const uint8_t* data;
  int width, height;
  ptrdiff_t row_stride, pixel_stride, channel_stride;
} arrcoc_pixels;
/* Copies the pixels. BAD_IMAGE below 1x1, TOO_LARGE above 1e9 pixels. */
arrcoc_status arrcoc_picture_from_pixels(const arrcoc_pixels* pixels, arrcoc_picture** out);

/* Pixels; 0 for NULL. */
int arrcoc_picture_width(const arrcoc_picture* picture);
int arrcoc_picture_height(const arrcoc_picture* picture);
/* Writes [height, width, 3] bytes, packed; `bytes` is the room at `out`, BAD_ARGUMENT when it is
 * too small. */
arrcoc_status arrcoc_picture_copy_rgb(const arrcoc_picture* picture, uint8_t* out, size_t bytes);
void arrcoc_picture_free(arrcoc_picture* picture);

/* ---- Asking and looking */

typedef struct arrcoc_ask_params {
  size_t size;
  const char* policy;     /* NULL: "realized"; names as `arrcoc info` lists them */
  const char* budget;     /* NULL: "auto"; a number, "fast", "balanced", "accurate" or a rule */
  const char* options;    /* NULL, or a JSON object with options as `arrcoc look --config` takes
                             them: over the policy's, below `budget` */
  int passes;             /* looks at most, 1 to 16; 0: as the policy has it */
  double threshold;       /* below this confidence an answer is unsure; negative: calibrated */
  int64_t max_new_tokens; /* Hugging Face; 0: the model's own */
} arrcoc_ask_params;
arrcoc_status arrcoc_ask_params_init(arrcoc_ask_params* params, size_t size);

/* Looks, allocates tokens, reads and answers. BAD_ARGUMENT for an empty question or one that is
 * not UTF-8, TOO_LARGE above 8,192 bytes; NOT_FOUND for unknown names, BAD_JSON for options. */
arrcoc_status arrcoc_ask(const arrcoc_model* model, const arrcoc_picture* picture,
                         const char* question, const arrcoc_ask_params* params,
                         arrcoc_answer** out);
/* One question about pictures [count] with one budget over all of them. */
arrcoc_status arrcoc_ask_several(const arrcoc_model* model, const arrcoc_picture* const* pictures,
                                 size_t count, const char* question,
                                 const arrcoc_ask_params* params, arrcoc_answer** out);
/* Where would the tokens go? As arrcoc_ask, without reading: an answer without text. */
arrcoc_status arrcoc_look(const arrcoc_model* model, const arrcoc_picture* picture,
                          const char* question, const arrcoc_ask_params* params,
                          arrcoc_answer** out);
void arrcoc_answer_free(arrcoc_answer* answer);

/* Of the picture as it was given, [x0,x1) x [y0,y1) pixels. */
typedef struct arrcoc_box {
  float x0, y0, x1, y1;
} arrcoc_box;

typedef struct arrcoc_summary {
  size_t size;
  int pictures;   /* that were asked about */
  int picture;    /* whose answer it is, from 0 */
  int64_t tokens; /* that were spent on all pictures and passes */
  int64_t native_tokens;
  int read;          /* 0: of arrcoc_look; what follows says nothing then */
  double confidence; /* how often such an answer is right */
  int calibrated;    /* 0: the confidence is the mean probability of the answer's tokens */
  int unsure;
  int has_box;
  arrcoc_box box; /* where the answer was read */
} arrcoc_summary;
/* Set out->size = sizeof *out before. */
arrcoc_status arrcoc_answer_summary(const arrcoc_answer* answer, arrcoc_summary* out);

/* The answer; "" for arrcoc_look and for NULL. Borrowed. */
const char* arrcoc_answer_text(const arrcoc_answer* answer);
/* What `arrcoc ask --json` prints; details 1: with leaves and maps, as --details and
 * `arrcoc look --json`. The text is the caller's: arrcoc_text_free. */
arrcoc_status arrcoc_answer_json(const arrcoc_answer* answer, int details, char** out);
void arrcoc_text_free(char* text);

/* values [rows, cols], row-major, y down, in [0,1]. Cell (r, c) covers the pixels from
 * (c * cell_width, r * cell_height) on; the last ones may reach past the edge. */
typedef struct arrcoc_map {
  int rows, cols;
  float cell_width, cell_height; /* pixels of the picture */
  const float* values;           /* borrowed from the answer */
} arrcoc_map;
/* The relevance map of picture number `picture`, from 0. */
arrcoc_status arrcoc_answer_map(const arrcoc_answer* answer, int picture, arrcoc_map* out);

typedef struct arrcoc_region {
  arrcoc_box box;
  float strength;
} arrcoc_region;
/* Rectangles around what stands out of that map, strongest first: at most `capacity` are written to
 * regions [capacity], *count says how many. An even map has none. */
arrcoc_status arrcoc_answer_regions(const arrcoc_answer* answer, int picture,
                                    arrcoc_region* regions, size_t capacity, size_t* count);

/* ---- Views: with the option "allocator": "zoom" (and with models that take pictures of their own)
 * tokens are spent on a glance at the whole picture and on rectangles of it. */

typedef struct arrcoc_view {
  arrcoc_box box;
  int width, height; /* pixels that the rectangle is to be shown with */
  int tokens;
} arrcoc_view;
/* At most `capacity` are written to views [capacity], *count says how many there are in all: 0
 * under other allocators. views may be NULL where capacity is 0. */
arrcoc_status arrcoc_answer_views(const arrcoc_answer* answer, int picture, arrcoc_view* views,
                                  size_t capacity, size_t* count);
/* Writes the pixels of view number `view`, [height, width, 3] bytes, packed. */
arrcoc_status arrcoc_answer_view_rgb(const arrcoc_answer* answer, int picture, int view,
                                     uint8_t* out, size_t bytes);

/* ---- Tokens */

enum { ARRCOC_PATCH = 16 }; /* pixels along a patch */

typedef struct arrcoc_token {
  arrcoc_box box;  /* that the patch shows, inside the picture */
  int level;       /* how often the picture that tokens are cut from was halved; -1: doubled; 0 for
                      the patches of views */
  float relevance; /* largest under the box */
} arrcoc_token;
/* Cuts the patches of the pass whose answer counts. */
arrcoc_status arrcoc_answer_tokens(const arrcoc_answer* answer, int picture, arrcoc_tokens** out);
size_t arrcoc_tokens_count(const arrcoc_tokens* tokens);             /* 0 for NULL */
const arrcoc_token* arrcoc_tokens_list(const arrcoc_tokens* tokens); /* [count], borrowed */
const uint8_t* arrcoc_tokens_patches(const arrcoc_tokens* tokens);   /* [count,3,16,16], borrowed */
void arrcoc_tokens_free(arrcoc_tokens* tokens);

#ifdef __cplusplus
}
#endif

#endif /* ARRCOC_C_H */
