// A stranger's program: one picture, one question; tokens without any model, an answer with it.
#include <ATen/ATen.h>
#include <arrcoc/arrcoc.h>

int main() {
  const arrcoc::Picture picture =
      arrcoc::make_picture(at::randint(0, 256, {3, 96, 128}, at::kByte));
  const std::string question = "what is at the top left?";
  const arrcoc::Answer looked =
      arrcoc::Asker(nullptr).look(picture, question, arrcoc::policy("lexical"));
  if (looked.tokens < 1 || looked.tokens > looked.from().budget.tokens) return 1;
  return arrcoc::Asker(arrcoc::load_bundle()).ask(picture, question).tokens > 0 ? 0 : 1;
}
