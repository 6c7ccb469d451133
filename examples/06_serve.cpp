// Serving from a program of one's own: example_06_serve [FOLDER_OF_A_HUGGING_FACE_MODEL]
// Answers until Enter is pressed, then finishes what runs.
#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"

int main(int argc, char** argv) {
  using namespace arrcoc;
  try {
    serving::Options options;
    options.port = 0;             // any free one
    options.budget = "180";       // image tokens of requests that name no budget; usually auto
    options.log = "examples.db";  // answers that people rate, for `arrcoc train --from-log`
    if (argc > 1) options.model = argv[1];
    serving::Server server(options, [](const std::string& line) { std::cerr << line << "\n"; });
    server.start();
    server.wait_ready();
    std::cout << "http://127.0.0.1:" << server.port() << ", Enter ends it" << std::endl;
    std::cin.get();
    server.stop();
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
