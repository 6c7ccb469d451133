// Everything but arrcoc_media (arrcoc/media.h).
#pragma once

#include "arrcoc/attending.h"
#include "arrcoc/balancing.h"
#include "arrcoc/error.h"
#include "arrcoc/geometry.h"
#include "arrcoc/knowing.h"
#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/reading.h"
#include "arrcoc/realize.h"
#include "arrcoc/realizing.h"
#include "arrcoc/registry.h"
#include "arrcoc/statistics.h"
#include "arrcoc/texture.h"
#include "arrcoc/version.h"
