// SPDX-License-Identifier: Apache-2.0
//
// The second step of a CRS: fields that need PROJ and its database. The first call of a process loads the library and
// opens the database (some milliseconds); call it where users see WKT, names or the codes of CRSs that are defined by
// parameters.
#pragma once

#include "geo/crs/crs.hpp"
#include "geo/crs/proj_library.hpp"
#include "terrazzo/info.hpp"

namespace terrazzo::geo {

// Fills name, WKT and PROJJSON of info.georeference.crs, finds its code if it has none, removes a code that the file's
// parameters contradict, and sets the unit of heights for bands without a unit. `definition` comes from describe().
// Returns false and changes nothing without PROJ or its database, and for a CRS with a code that PROJ does not have if
// no other key defines it: then the codes stay, and a warning is added. Thread-safe.
bool complete_crs(CrsDefinition const& definition, Info& info);

// Sets every field of `crs` from PROJ's object. `epsg` is the code of the whole CRS; 0: none. Keeps a vertical code
// that `crs` has and the object lacks.
void fill_crs(PjPtr const& object, int epsg, ProjSession const& proj, Crs& crs);

// The code of the registered CRS that PROJ takes for this one; 0 if there is none, or none is sure.
[[nodiscard]] int likely_epsg(PjPtr const& object, ProjSession const& proj);

}  // namespace terrazzo::geo
