// Everything but arrcoc_media (arrcoc/media.h).
#pragma once

#include "arrcoc/allocate.h"
#include "arrcoc/error.h"
#include "arrcoc/esper.h"
#include "arrcoc/film.h"
#include "arrcoc/look.h"
#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/realize.h"
#include "arrcoc/registry.h"
#include "arrcoc/texture.h"
#include "arrcoc/tokens.h"
#include "arrcoc/version.h"
