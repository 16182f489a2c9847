# Empty unless XSGI_SANITIZE is set.
add_library(xsgi_sanitize INTERFACE)
add_library(xsgi::sanitize ALIAS xsgi_sanitize)
if(XSGI_SANITIZE)
  target_compile_options(xsgi_sanitize INTERFACE
    -fsanitize=${XSGI_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(xsgi_sanitize INTERFACE -fsanitize=${XSGI_SANITIZE})
endif()
