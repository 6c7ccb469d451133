// Confidence against how often it is right, for `eval` and `bench`: a table, JSON and a picture.
#pragma once

#include "lab/cli/lab.h"

namespace arrcoc::cli {

inline constexpr const char* kReliabilityHelp =
    "write reliability diagrams as a PNG: generated suites together, then every folder";

// Suites of the records together as "generated", then every folder of `data` by its own name:
// answered, ece, auroc, and ten bins with count, confidence and right. Sets in which nothing was
// answered are left out.
ordered_json reliability_json(const std::vector<measuring::Record>& records,
                              const std::vector<std::string>& data);
// Of that JSON; "" where it is empty.
std::string reliability_markdown(const ordered_json& sets);
// A panel for each. Error{bad_argument} when nothing was answered, Error{io}.
void write_reliability(const std::string& path, const ordered_json& sets);

}  // namespace arrcoc::cli
