// SPDX-License-Identifier: Apache-2.0
//
// The second step of a CRS: what only PROJ and its database know. The first call of a process loads the library and
// opens the database (some milliseconds); call it where somebody will look at WKT, names or the codes of CRSs that are
// given by parameters.
#pragma once

#include "geo/crs.hpp"
#include "terrazzo/info.hpp"

namespace terrazzo::geo {

// Fills name, WKT and PROJJSON of info.georeference.crs, finds its code where it has none, takes away a code that the
// file's parameters contradict, and gives bands without a unit that of the heights. `definition` is what describe()
// returned. Without PROJ or its database nothing changes and false is returned. So it is for a CRS with a code that
// PROJ does not know, where no other key says what it means: the codes stay, a warning says so. Thread-safe.
bool complete_crs(CrsDefinition const& definition, Info& info);

}  // namespace terrazzo::geo
