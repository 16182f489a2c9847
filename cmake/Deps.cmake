# The only file that looks outside the repository.
#
# llhttp: an installed one (>= 9.3), else FETCHCONTENT_SOURCE_DIR_LLHTTP, else
# upstream's release by hash. libuv: likewise (>= 1.44). cmocka: installed.
include(FetchContent)
find_package(PkgConfig)

# FOR-NOW: replaced by the full search.
add_library(xsgi_llhttp STATIC
  ${FETCHCONTENT_SOURCE_DIR_LLHTTP}/src/api.c
  ${FETCHCONTENT_SOURCE_DIR_LLHTTP}/src/http.c
  ${FETCHCONTENT_SOURCE_DIR_LLHTTP}/src/llhttp.c)
target_include_directories(xsgi_llhttp SYSTEM PUBLIC
  ${FETCHCONTENT_SOURCE_DIR_LLHTTP}/include)
add_library(xsgi::llhttp ALIAS xsgi_llhttp)

pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv>=1.44)
add_library(xsgi::libuv ALIAS PkgConfig::LIBUV)

if(XSGI_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  add_library(xsgi::cmocka ALIAS PkgConfig::CMOCKA)
endif()
