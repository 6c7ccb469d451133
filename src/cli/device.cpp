#include "cli/device.h"

#include <cstdlib>

namespace arrcoc::cli {

void place_networks(const std::string* device, const std::string* dtype) {
  if (device) ::setenv("ARRCOC_DEVICE", device->c_str(), 1);
  if (dtype) ::setenv("ARRCOC_DTYPE", dtype->c_str(), 1);
}

void add_device_flags(CLI::App& app) {
  app.add_option_function<std::string>(
      "--device", [](const std::string& device) { place_networks(&device, nullptr); },
      "cpu, cuda or cuda:N");
  app.add_option_function<std::string>(
      "--dtype", [](const std::string& dtype) { place_networks(nullptr, &dtype); },
      "of the networks there: float32, bfloat16 or float16");
}

}  // namespace arrcoc::cli
