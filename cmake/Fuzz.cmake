# How a fuzz target is built, in three ways.
#
#     replay_NAME  by any compiler: the test fuzz.NAME, which replays the corpus
#     mutant_NAME  the same with planted bugs, for the test fuzz.mutants
#     fuzz_NAME    with XSGI_FUZZERS: driven by the compiler's own fuzzer, which
#                  is libFuzzer of clang and AFL++ of afl-clang-fast
option(XSGI_FUZZERS "Build the fuzz programs for the compiler's fuzzer" OFF)

# xs_fuzz(fuzz_NAME.c LIBRARY...)
function(xs_fuzz source)
  string(REGEX REPLACE "^fuzz_(.*)\\.c$" "\\1" name ${source})
  add_executable(replay_${name} ${source} $<TARGET_OBJECTS:fuzz_replay>)
  add_executable(mutant_${name} ${source}
    $<TARGET_OBJECTS:fuzz_replay> $<TARGET_OBJECTS:fuzz_mutants>)
  set(programs replay_${name} mutant_${name})
  if(XSGI_FUZZERS)
    add_executable(fuzz_${name} ${source})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND programs fuzz_${name})
  endif()
  foreach(program IN LISTS programs)
    target_link_libraries(${program} PRIVATE ${ARGN} xsgi::warnings)
  endforeach()
  add_test(NAME fuzz.${name}
    COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

# No fuzzer follows new paths in these libraries: they are none of the server's.
function(xs_fuzz_unseen)
  foreach(target IN LISTS ARGN)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    list(TRANSFORM sources PREPEND ${folder}/)
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target}
      PROPERTIES COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
  endforeach()
endfunction()
