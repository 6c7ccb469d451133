#pragma once

namespace CLI {
class App;
}

namespace arrcoc::cli {

// Adds `completion` and `manpage`. Of every program, last.
void add_completion(CLI::App& app);

}  // namespace arrcoc::cli
