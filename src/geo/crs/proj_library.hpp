// SPDX-License-Identifier: Apache-2.0
//
// PROJ, loaded at run time if it is installed. Only this file and its .cpp load it; all other code gets a session, or
// null. Members are pointers with the types of PROJ's own declarations, so calls are type-checked.
#pragma once

#include <proj.h>
#include <proj_experimental.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// clang-format off
#define TERRAZZO_PROJ_FUNCTIONS(X) \
  X(proj_as_projjson) \
  X(proj_as_wkt) \
  X(proj_clone) \
  X(proj_context_create) \
  X(proj_context_set_enable_network) \
  X(proj_context_set_fileapi) \
  X(proj_create) \
  X(proj_create_cartesian_2D_cs) \
  X(proj_create_compound_crs) \
  X(proj_create_crs_to_crs_from_pj) \
  X(proj_create_from_database) \
  X(proj_create_from_name) \
  X(proj_create_projected_crs) \
  X(proj_crs_alter_cs_linear_unit) \
  X(proj_crs_alter_parameters_linear_unit) \
  X(proj_crs_demote_to_2D) \
  X(proj_crs_get_coordinate_system) \
  X(proj_crs_get_coordoperation) \
  X(proj_crs_get_datum) \
  X(proj_crs_get_datum_ensemble) \
  X(proj_crs_get_geodetic_crs) \
  X(proj_crs_get_sub_crs) \
  X(proj_crs_promote_to_3D) \
  X(proj_cs_get_axis_info) \
  X(proj_degree_input) \
  X(proj_destroy) \
  X(proj_ellipsoid_get_parameters) \
  X(proj_errno_reset) \
  X(proj_get_ellipsoid) \
  X(proj_get_id_auth_name) \
  X(proj_get_id_code) \
  X(proj_get_name) \
  X(proj_get_prime_meridian) \
  X(proj_get_source_crs) \
  X(proj_get_type) \
  X(proj_identify) \
  X(proj_info) \
  X(proj_int_list_destroy) \
  X(proj_is_crs) \
  X(proj_is_equivalent_to) \
  X(proj_list_destroy) \
  X(proj_list_get) \
  X(proj_list_get_count) \
  X(proj_log_level) \
  X(proj_normalize_for_visualization) \
  X(proj_prime_meridian_get_parameters) \
  X(proj_trans_generic) \
  X(proj_uom_get_info_from_database)

// Null in a PROJ that is older than the function: 8.2.
#define TERRAZZO_PROJ_NEWER_FUNCTIONS(X) \
  X(proj_trans_bounds)
// clang-format on

struct ProjApi {
#define TERRAZZO_PROJ_MEMBER(function) decltype(&::function) function = nullptr;
  TERRAZZO_PROJ_FUNCTIONS(TERRAZZO_PROJ_MEMBER)
  TERRAZZO_PROJ_NEWER_FUNCTIONS(TERRAZZO_PROJ_MEMBER)
#undef TERRAZZO_PROJ_MEMBER
};

// Null if no PROJ (7.2 or newer) can be loaded. Tried once per process; thread-safe.
[[nodiscard]] ProjApi const* proj_api();

struct PjDeleter {
  void operator()(PJ* object) const noexcept;
};
using PjPtr = std::unique_ptr<PJ, PjDeleter>;

// Exclusive use of PROJ: holds the process's one PROJ context, whose open database is worth keeping, for its lifetime;
// other threads wait. The context has no network, even if PROJ_NETWORK is set, and opens only PROJ's own files
// (proj_files.hpp). REQUIRES: proj_api() is not null.
class ProjSession {
 public:
  ProjSession();

  [[nodiscard]] ProjApi const& api() const noexcept { return *api_; }
  [[nodiscard]] PJ_CONTEXT* context() const noexcept { return context_; }

  // False if the library is present without proj.db: it then has no codes, and its results are meaningless.
  [[nodiscard]] bool has_database() const { return from_epsg(4326, PJ_CATEGORY_CRS) != nullptr; }

  [[nodiscard]] PjPtr adopt(PJ* object) const { return PjPtr(object); }
  // A CRS from WKT, PROJJSON, "EPSG:4326"; null if PROJ does not understand it or makes another object from it. The
  // text is our own, or has passed crs_text.hpp.
  [[nodiscard]] PjPtr create(std::string const& definition) const;
  // The CRS that a user typed: a definition (typed_crs) or the exact name of a CRS of EPSG ("WGS 84 / UTM zone 32N"; of
  // several, the first of geographic 2D, projected, compound, others). Null if PROJ does not know it.
  [[nodiscard]] PjPtr create_typed(std::string_view text) const;
  [[nodiscard]] PjPtr from_epsg(int code, PJ_CATEGORY category) const;  // null if there is no such code
  [[nodiscard]] std::string name(PjPtr const& object) const;
  [[nodiscard]] int epsg(PjPtr const& object) const;  // 0 if it has none

  // The code of the registered CRS that PROJ identifies `crs` with; 0 if its confidence is below `min_confidence` per
  // cent. `wanted`, if not 0, is the only accepted code.
  [[nodiscard]] int identify(PjPtr const& crs, int min_confidence, int wanted = 0) const;

  // The registered CRS of exactly that name and type; null if there is none.
  [[nodiscard]] PjPtr from_name(std::string const& name, PJ_TYPE type) const;

  [[nodiscard]] std::string wkt(PjPtr const& object, PJ_WKT_TYPE type) const;
  [[nodiscard]] std::string projjson(PjPtr const& object) const;

 private:
  std::unique_lock<std::mutex> lock_;
  ProjApi const* api_;
  PJ_CONTEXT* context_;
};

}  // namespace terrazzo::geo
