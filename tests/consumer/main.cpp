// A stranger's program: one picture, one question, some tokens.
#include <ATen/ATen.h>
#include <arrcoc/arrcoc.h>

int main() {
  arrcoc::Picture picture = arrcoc::make_picture(at::randint(0, 256, {3, 96, 128}, at::kByte));
  arrcoc::Realization r = arrcoc::realize(picture, "what is at the top left?");
  return r.tokens.size() > 0 && r.tokens.size() <= r.allocation.budget.tokens ? 0 : 1;
}
