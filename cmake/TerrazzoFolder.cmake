# SPDX-License-Identifier: Apache-2.0
#
# One target per folder of src/, one test binary per folder of tests/. The targets are called terrazzo_<folder>.

# terrazzo_folder(<name> SOURCES <files> SEPARATE <files>|ALL DEPENDS <folders> LIBRARIES <targets> DEFINITIONS <NAME=value>)
#
# Compiles src/<name>. DEPENDS are the folders it may include (docs/architecture.md; tests/lint/include_rules.py has the
# same table and compares every #include with it). A folder with headers only, or with nothing yet, has no SOURCES.
# The folder's objects become part of the library `terrazzo`. SEPARATE: sources that compile in no batch.
function(terrazzo_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEPARATE;DEPENDS;LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "terrazzo_folder(${name}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(target terrazzo_${name})
  if(arg_SOURCES)
    add_library(${target} OBJECT ${arg_SOURCES})
    set(scope PUBLIC)
    set_property(GLOBAL APPEND PROPERTY TERRAZZO_OBJECT_FOLDERS ${name})
    # A shared library exports the public headers, which ask for it, and nothing else.
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN ON)
    terrazzo_precompile(${target} ALL)
    terrazzo_batch(${target} ALL ${arg_SEPARATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_definitions(${target} ${scope} ${arg_DEFINITIONS})
  target_link_libraries(${target} ${scope} terrazzo_settings ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY TERRAZZO_LINK_LIBRARIES ${arg_LIBRARIES})

  # The folder and all it stands on, for binaries that link no more than that.
  set(closure ${name})
  foreach(folder IN LISTS arg_DEPENDS)
    target_link_libraries(${target} ${scope} terrazzo_${folder})
    get_property(below GLOBAL PROPERTY TERRAZZO_CLOSURE_${folder})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY TERRAZZO_CLOSURE_${name} ${closure})
endfunction()

# Links a binary to folders and what they stand on, and to nothing else: a test of tiff cannot come to need io unseen.
function(terrazzo_link_folders target)
  set(folders "")
  foreach(folder IN LISTS ARGN)
    get_property(closure GLOBAL PROPERTY TERRAZZO_CLOSURE_${folder})
    list(APPEND folders ${closure})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(TRANSFORM folders PREPEND terrazzo_)
  target_link_libraries(${target} PRIVATE terrazzo_settings ${folders})
endfunction()

# terrazzo_test(<folder> SOURCES <files> SEPARATE <files> ALSO <folders> LIBRARIES <targets> DEFINITIONS <NAME=value>)
#
# The GoogleTest binary test_<folder> and its one CTest entry. ALSO names folders above <folder> that its tests use;
# what is not a folder of src/ (the command line) comes in by LIBRARIES. SEPARATE: sources that compile in no batch.
function(terrazzo_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEPARATE;ALSO;LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "terrazzo_test(${folder}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  set(target test_${folder})
  add_executable(${target} ${arg_SOURCES})
  terrazzo_link_folders(${target} ${folder} ${arg_ALSO})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE TERRAZZO_CMAKE_VERSION="${PROJECT_VERSION}" ${arg_DEFINITIONS})
  # Test code need not be fast: -O0 halves its compile time. Not where tests compute much with templates of src/, which
  # are compiled with them: those would run for minutes, and under sanitizers for longer than they compile.
  if(NOT folder MATCHES "^(coding|io|read|threads)$")
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-array-bounds>")
  endif()
  target_link_libraries(${target} PRIVATE terrazzo_test_support ${arg_LIBRARIES} GTest::gtest_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  terrazzo_precompile(${target} TESTS <gtest/gtest.h> <filesystem> <random>)
  terrazzo_batch(${target} TESTS ${arg_SEPARATE})
  add_test(NAME ${folder} COMMAND ${target})
  set_tests_properties(${folder} PROPERTIES LABELS unit TIMEOUT 600)
endfunction()

# terrazzo_fuzz_target(NAME <name> SOURCE <file> FOLDERS <folders> DEFINITIONS <NAME=value> LIBRARIES <targets>)
#
# The libFuzzer binary fuzz_<name>; one source may serve several targets that differ in DEFINITIONS. Links the whole
# library unless FOLDERS says less. Its name is also that of its seeds, tests/fuzz/seeds/<name>.
function(terrazzo_fuzz_target)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SOURCE" "FOLDERS;DEFINITIONS;LIBRARIES")
  if(NOT TERRAZZO_FUZZ)
    return()
  endif()
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCE)
    message(FATAL_ERROR "terrazzo_fuzz_target(NAME ${arg_NAME} SOURCE ${arg_SOURCE}): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target fuzz_${arg_NAME})
  add_executable(${target} ${arg_SOURCE})
  if(arg_FOLDERS)
    terrazzo_link_folders(${target} ${arg_FOLDERS})
  else()
    target_link_libraries(${target} PRIVATE terrazzo_settings terrazzo)
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  set_property(GLOBAL APPEND PROPERTY TERRAZZO_FUZZ_TARGETS ${target})
endfunction()
