# What every target of ours is compiled with.
add_library(xsgi_warnings INTERFACE)
add_library(xsgi::warnings ALIAS xsgi_warnings)
target_compile_options(xsgi_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wundef -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wswitch-enum -Wpointer-arith
  -Wformat=2 $<$<BOOL:${XSGI_WERROR}>:-Werror>)
