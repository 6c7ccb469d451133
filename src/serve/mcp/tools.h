// The tools as tools/list shows them. What they do: Service::call_tool (mcp/calls.cpp).
#pragma once

#include "base/json.h"

namespace arrcoc::serving::mcp {

inline constexpr int kMostCrops = 8;        // of one zoom
inline constexpr int kMostCropSide = 1568;  // pixels

// Names, descriptions, schemas of what goes in and comes out, annotations.
const ordered_json& tools();
bool has_tool(const std::string& name);

}  // namespace arrcoc::serving::mcp
