/* map PICTURE QUESTION: the relevance map as text, and the rectangles that stand out. */
#include <arrcoc/c.h>
#include <stdio.h>

static void draw(const arrcoc_map* map) {
  int r, c;
  for (r = 0; r < map->rows; r += 2) {
    for (c = 0; c < map->cols; ++c)
      putchar(" .:-=+*#%@"[(int)(9 * map->values[r * map->cols + c])]);
    putchar('\n');
  }
}

int main(int argc, char** argv) {
  arrcoc_model* model = NULL;
  arrcoc_picture* picture = NULL;
  arrcoc_answer* seen = NULL;
  arrcoc_map map;
  arrcoc_region regions[4];
  size_t count = 0, i;
  int failed;
  if (argc != 3) {
    fprintf(stderr, "usage: map PICTURE QUESTION\n");
    return 2;
  }
  failed = arrcoc_model_load(NULL, &model) || arrcoc_picture_from_file(argv[1], NULL, &picture) ||
           arrcoc_look(model, picture, argv[2], NULL, &seen) || arrcoc_answer_map(seen, 0, &map) ||
           arrcoc_answer_regions(seen, 0, regions, 4, &count);
  if (failed)
    fprintf(stderr, "map: %s\n", arrcoc_last_error());
  else
    draw(&map);
  for (i = 0; i < count; ++i)
    printf("%.0f,%.0f - %.0f,%.0f  strength %.2f\n", regions[i].box.x0, regions[i].box.y0,
           regions[i].box.x1, regions[i].box.y1, regions[i].strength);
  arrcoc_answer_free(seen);
  arrcoc_picture_free(picture);
  arrcoc_model_free(model);
  return failed;
}
