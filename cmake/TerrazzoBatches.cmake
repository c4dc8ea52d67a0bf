# SPDX-License-Identifier: Apache-2.0
#
# Batches of sources: several sources of a target compile as one translation unit, which parses headers and instantiates
# templates once (a third of the compile time of the tests). In exchange, names in anonymous namespaces must differ inside
# a folder, and a change recompiles the whole batch.

# terrazzo_batch(<target> <TESTS|ALL> <separate sources>): if TERRAZZO_BATCHES has at least the given value. A source that
# cannot share a translation unit is one of <separate sources>; ALL means every source.
#
# The batch of a source follows from its name, so that a new source changes one batch and not all of them.
function(terrazzo_batch target least)
  if(NOT TERRAZZO_BATCHES STREQUAL "ALL" AND NOT TERRAZZO_BATCHES STREQUAL least OR ARGN STREQUAL "ALL")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(LENGTH sources count)
  if(count GREATER 40)
    set(batches 8)
  elseif(count GREATER 16)
    set(batches 4)
  else()
    set(batches 2)
  endif()
  foreach(source IN LISTS sources)
    string(MD5 digest "${source}")
    string(SUBSTRING "${digest}" 0 4 digest)
    math(EXPR batch "0x${digest} % ${batches}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${batch})
  endforeach()
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
