#include "cli/cli.h"

int main(int argc, char** argv) { return arrcoc::cli::run(argc, argv); }
