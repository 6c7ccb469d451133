// Everything but arrcoc_media (arrcoc/media.h), arrcoc_serve (arrcoc/serve.h) and JSON
// (arrcoc/json.h).
#pragma once

#include "arrcoc/allocate.h"
#include "arrcoc/ask.h"
#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "arrcoc/look.h"
#include "arrcoc/map.h"
#include "arrcoc/model.h"
#include "arrcoc/moments.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/registry.h"
#include "arrcoc/renew.h"
#include "arrcoc/texture.h"
#include "arrcoc/tokens.h"
#include "arrcoc/version.h"
#include "arrcoc/weights.h"
