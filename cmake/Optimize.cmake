# Link-time optimization in release builds, where the tool chain has it.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT XSGI_SANITIZE)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT has_ipo OUTPUT ignored LANGUAGES C)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${has_ipo})
endif()
