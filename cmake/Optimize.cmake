# Link-time optimization in release builds, where the tool chain has it.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT XSGI_SANITIZE)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT has_ipo OUTPUT ignored LANGUAGES C)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${has_ipo})
  # Calls of libpython go through the table of addresses, not by way of a stub.
  if(NOT APPLE)
    add_compile_options(-fno-plt)
    add_link_options(-fno-plt)
  endif()
endif()
