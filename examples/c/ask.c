/* ask PICTURE QUESTION: the answer, how sure it is and what it cost. */
#include <arrcoc/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  arrcoc_model* model = NULL;
  arrcoc_picture* picture = NULL;
  arrcoc_answer* answer = NULL;
  arrcoc_summary summary;
  int failed;
  if (argc != 3) {
    fprintf(stderr, "usage: ask PICTURE QUESTION\n");
    return 2;
  }
  summary.size = sizeof summary;
  failed = arrcoc_model_load(NULL, &model) || arrcoc_picture_from_file(argv[1], NULL, &picture) ||
           arrcoc_ask(model, picture, argv[2], NULL, &answer) ||
           arrcoc_answer_summary(answer, &summary);
  if (failed)
    fprintf(stderr, "ask: %s\n", arrcoc_last_error());
  else
    printf("%s%s, %.0f %% sure, %ld of %ld tokens\n", arrcoc_answer_text(answer),
           summary.unsure ? " (unsure)" : "", 100 * summary.confidence, (long)summary.tokens,
           (long)summary.native_tokens);
  arrcoc_answer_free(answer);
  arrcoc_picture_free(picture);
  arrcoc_model_free(model);
  return failed;
}
