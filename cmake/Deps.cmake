# The only file that looks outside the repository. It gives
#
#     xsgi::llhttp   9.3 or newer (8.x takes what must be refused)
#     xsgi::libuv    1.44 or newer
#     xsgi::cmocka   for the C tests only
#
# Each is looked for in this order: an installed one (CMake package, then
# pkg-config); the source folder that FETCHCONTENT_SOURCE_DIR_<NAME> names;
# .cache/<name> in the checkout, where tools/setup.sh puts it; upstream's
# release, fetched by hash; tools/<name>.sh, which gets it in another way.
# docs/decisions.md says why.

include(FetchContent)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW) # unpacked files are as old as the download
endif()
find_package(PkgConfig QUIET)

# Alias `target` to the first of the targets named after it that exists.
function(deps_alias target)
  foreach(candidate IN LISTS ARGN)
    if(TARGET ${candidate})
      add_library(${target} ALIAS ${candidate})
      message(STATUS "${target} is the installed ${candidate}")
      return()
    endif()
  endforeach()
endfunction()

# pkg-config's answer to `spec` (name>=version) as PkgConfig::<prefix>.
macro(deps_pkg_config prefix spec)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET "${spec}")
  endif()
endmacro()

# Download upstream's release to `archive`, or set `problem`. Here and not in
# FetchContent, whose failures take a page.
macro(deps_download url sha256)
  message(STATUS "Fetching ${url}")
  file(DOWNLOAD ${url} ${archive} STATUS problem TLS_VERIFY ON
    INACTIVITY_TIMEOUT 15 TIMEOUT 120)
  list(POP_FRONT problem code)
  if(code EQUAL 0)
    file(SHA256 ${archive} actual)
    string(COMPARE NOTEQUAL ${actual} ${sha256} code)
    set(problem "its hash is ${actual}")
  endif()
  if(code)
    file(REMOVE ${archive})
  else()
    set(problem "")
  endif()
endmacro()

# Set <name>_SOURCE_DIR to the sources of `name`.
macro(deps_sources name version url sha256)
  string(TOUPPER ${name} upper)
  set(source_dir FETCHCONTENT_SOURCE_DIR_${upper})
  foreach(cache ${PROJECT_SOURCE_DIR}/.cache ${CMAKE_BINARY_DIR}/deps)
    if(NOT ${source_dir} AND EXISTS ${cache}/${name})
      set(${source_dir} ${cache}/${name})
    endif()
  endforeach()
  set(archive ${CMAKE_BINARY_DIR}/deps/${name}-${version}.tar.gz)
  if(NOT ${source_dir} AND NOT EXISTS ${archive})
    deps_download(${url} ${sha256})
    set(script ${PROJECT_SOURCE_DIR}/tools/${name}.sh)
    if(problem AND EXISTS ${script} AND Python_EXECUTABLE)
      message(STATUS "That failed (${problem}): running ${script}")
      set(${source_dir} ${CMAKE_BINARY_DIR}/deps/${name})
      execute_process(RESULT_VARIABLE problem
        COMMAND ${script} ${Python_EXECUTABLE} ${${source_dir}})
    endif()
    if(problem)
      message(FATAL_ERROR "${name} is not installed and ${url} cannot be "
        "fetched (${problem}): run tools/setup.sh, or install ${name}, or "
        "set ${source_dir} to its sources.")
    endif()
  endif()
  # SOURCE_SUBDIR: we name the files to build, not its CMakeLists.txt.
  FetchContent_Declare(${name} URL ${archive} URL_HASH SHA256=${sha256}
    SOURCE_SUBDIR .not-built)
  FetchContent_MakeAvailable(${name})
  message(STATUS "xsgi::${name} is built from ${${name}_SOURCE_DIR}")
endmacro()

# llhttp
find_package(llhttp QUIET)
if(llhttp_FOUND AND llhttp_VERSION VERSION_GREATER_EQUAL 9.3)
  deps_alias(xsgi::llhttp
    llhttp::llhttp_shared llhttp::llhttp llhttp::llhttp_static)
endif()
if(NOT TARGET xsgi::llhttp)
  deps_pkg_config(LLHTTP "libllhttp>=9.3")
  deps_alias(xsgi::llhttp PkgConfig::LLHTTP)
endif()
if(NOT TARGET xsgi::llhttp)
  deps_sources(llhttp 9.4.3
    https://github.com/nodejs/llhttp/archive/refs/tags/release/v9.4.3.tar.gz
    1eb813c7437b31a87496a1cd3ed79f00746720f5e7e29c79b42c02cb69f36c39)
  find_path(XSGI_LLHTTP_H llhttp.h NO_DEFAULT_PATH NO_CACHE REQUIRED
    PATHS ${llhttp_SOURCE_DIR} PATH_SUFFIXES include lib)
  find_path(XSGI_LLHTTP_C llhttp.c NO_DEFAULT_PATH NO_CACHE REQUIRED
    PATHS ${llhttp_SOURCE_DIR} PATH_SUFFIXES src lib)
  file(STRINGS ${XSGI_LLHTTP_H}/llhttp.h version
    REGEX "define LLHTTP_VERSION_M(AJOR|INOR) ")
  string(REGEX MATCHALL "[0-9]+" version "${version}")
  list(JOIN version "." version)
  if(version VERSION_LESS 9.3)
    message(FATAL_ERROR
      "${llhttp_SOURCE_DIR} has llhttp ${version}: it must be 9.3 or newer.")
  endif()
  add_library(xsgi_llhttp STATIC ${XSGI_LLHTTP_C}/api.c
    ${XSGI_LLHTTP_C}/http.c ${XSGI_LLHTTP_C}/llhttp.c)
  target_include_directories(xsgi_llhttp SYSTEM PUBLIC ${XSGI_LLHTTP_H})
  target_link_libraries(xsgi_llhttp PRIVATE xsgi::sanitize)
  add_library(xsgi::llhttp ALIAS xsgi_llhttp)
endif()

# libuv
find_package(libuv QUIET)
if(libuv_FOUND AND libuv_VERSION VERSION_GREATER_EQUAL 1.44)
  deps_alias(xsgi::libuv libuv::uv libuv::uv_a uv uv_a)
endif()
foreach(name libuv libuv-static)
  if(NOT TARGET xsgi::libuv)
    deps_pkg_config(LIBUV "${name}>=1.44")
    deps_alias(xsgi::libuv PkgConfig::LIBUV)
  endif()
endforeach()
if(NOT TARGET xsgi::libuv)
  deps_sources(libuv 1.52.1
    https://dist.libuv.org/dist/v1.52.1/libuv-v1.52.1.tar.gz
    66d511b9e6e334c0e62279eb234fbfb2b3110b1479c09b95b44c7afca8cff9e7)
  set(LIBUV_BUILD_SHARED OFF CACHE INTERNAL "")
  set(BUILD_TESTING OFF)
  add_subdirectory(${libuv_SOURCE_DIR} ${CMAKE_BINARY_DIR}/libuv
    EXCLUDE_FROM_ALL)
  add_library(xsgi::libuv ALIAS uv_a)
endif()

# cmocka
if(XSGI_TESTS)
  find_package(cmocka QUIET)
  deps_pkg_config(CMOCKA cmocka)
  deps_alias(xsgi::cmocka PkgConfig::CMOCKA cmocka::cmocka cmocka-static)
  if(NOT TARGET xsgi::cmocka)
    message(FATAL_ERROR "cmocka is not installed: run tools/setup.sh test, "
      "or configure with -DXSGI_TESTS=OFF.")
  endif()
endif()
