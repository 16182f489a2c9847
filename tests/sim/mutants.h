/* mutants.h - bugs that real servers have had, one of which may be alive.
 *
 * mutants.py plants them in a copy of the core. */

#ifndef XS_TESTS_SIM_MUTANTS_H
#define XS_TESTS_SIM_MUTANTS_H

#include <stdbool.h>

#define XS_MUTANTS(X)                                                      \
    X(LOST_FLUSH, "what the application has said waits for its next word") \
    X(HEAD_TWICE, "the head is sent again with the second piece")          \
    X(LEAKED_TIMER, "the write deadline goes on when all is written")      \
    X(LEAKED_TIMER_ON_CLOSE, "a deadline outlives its connection")         \
    X(SHORT_WRITE, "a short write counts as a whole one")                  \
    X(NO_TERMINATOR, "the last chunk is missing when it comes alone")      \
    X(EMPTY_CHUNK, "an empty piece ends the response")                     \
    X(DRAIN_EDGE, "a drain comes below the low mark and not at it")        \
    X(DRAIN_TWICE, "a drain is given again")                               \
    X(KEEPS_ALIVE, "the connection lives on behind Connection: close")     \
    X(PIPELINE_STALL, "a pipelined request waits for more bytes")          \
    X(HEAD_DEADLINE, "a head inherits the deadline of the one before")     \
    X(CLOSE_UNSENT, "a connection is closed over what it has to send")     \
    X(NO_LINGER, "unread input at close takes the response with it")       \
    X(ERROR_IN_BODY, "a failure behind the head puts a 500 into the body") \
    X(NO_CONTINUE, "nobody says 100 Continue")                             \
    X(NO_CONTINUE_BEHIND_START,                                            \
      "100 Continue is not said by who has begun its answer")              \
    X(NO_BODY_DEADLINE, "a client may stop inside a body for ever")        \
    X(NO_WRITE_DEADLINE, "a client may stop reading for ever")             \
    X(BACKLOG_OF_THE_FASTEST, "who takes most pays for the slow ones")     \
    X(BACKLOG_UNCOUNTED, "what a closed connection held counts for ever")  \
    X(BACKLOG_UNBOUNDED, "slow clients together may hold any memory")      \
    X(DEADLINE_BLIND, "a read deadline ends over what has come meanwhile") \
    X(HASTY_WRITE_DEADLINE,                                                \
      "the write deadline does not see that the client reads")             \
    X(BUSY_WRITE, "a full socket is tried again at once")                  \
    X(HEAD_WITH_BODY, "the answer to a HEAD has a body")                   \
    X(NO_RELEASE, "what was lent is not given back when it was copied")    \
    X(LEAKED_BLOCK, "a block is lost when the connection lingers")         \
    X(ANY_LENGTH, "a body need not fit its Content-Length")                \
    X(SILENT_ABORT, "the application is not told of a reset")              \
    X(EOF_IGNORED, "a client that ends inside its request is waited for")  \
    X(BODY_ONCE, "on_body comes only for the first bytes")                 \
    X(ACCEPT_STALL,                                                        \
      "nobody is accepted any more once descriptors have run out")         \
    X(STOP_HANGS, "a server that stops waits for idle connections")        \
    X(STOP_LOSES, "a stop closes who has just connected")                  \
    X(STOP_LOSES_HEAD, "a stop closes who has just begun with a head")     \
    X(STOP_DROPS, "a stop throws away what has come unread")               \
    X(STOP_DEAF, "a stop waits for a request, and does not read it")       \
    X(STAYS_FRESH, "a stop goes on to wait for who has just connected")    \
    X(EOF_BEHIND_OUTPUT, "a client that ends while it reads is forgotten") \
    X(EOF_UNTOLD, "the application is not told that the client has ended") \
    X(LINGERS_ON, "a stop waits for who has got everything")               \
    X(HASTY_STOP, "a stop does not wait until all is acknowledged")        \
    X(ONE_TOO_MANY, "a connection has one request more than it may")       \
    X(HINT_STRANDED, "a hint waits for the next word")                     \
    X(HINT_BEHIND, "a hint goes out behind the head")                      \
    X(HINT_TO_OLD, "HTTP/1.0 is sent a hint")                              \
    X(TRAILERS_UNASKED, "trailers go to who has not asked for them")       \
    X(TERMINATOR_FIRST, "a response ends before its trailers")             \
    X(TRAILERS_LOOSE, "an end that is not whole goes out all the same")    \
    X(REFUSED_HEAD, "the refusal of a HEAD has a body")                    \
    X(REFUSAL_UNTOLD, "the log does not hear of a refusal inside a body")  \
    X(RESET_FOR_END, "a reset ends a body that the end should end")        \
    X(NO_LINGER_AT_END, "nobody lingers behind a body that the end ends")  \
    X(LINGERS_ONCE, "whoever lingers is left when it sends")               \
    X(LINGER_RESET, "a connection that has lingered is reset")             \
    X(FILE_AGAIN, "what a short sendfile has taken is sent again")         \
    X(FILE_SHORT, "a file that is too short counts as sent")               \
    X(FILE_KEPT, "a reset does not give a file back")                      \
    X(FILE_ENDED, "the last chunk follows a file that is too short")       \
    X(FILE_LOOKS_WHOLE, "a close after a torn file looks like its end")    \
    X(TERMINATOR_STRANDED, "nobody asks when the last chunk can go")       \
    X(SHUT_UNSENT, "a stream is ended over what it has to send")           \
    X(DRAIN_ASLEEP, "who waits for a drain does not hear of a disconnect") \
    X(KEEP_ALIVE_IN_PIPELINE, "the keep-alive timer ends a request")       \
    X(HEAD_LOST, "a body that fails first takes its head with it")

/* Those that have to show in one small answer (trial.h), and the public report
 * of a bug like it, if there is one. */
#define XS_MUTANTS_OF_RESPONSES(X)             \
    X(HEAD_TWICE, "Deno #35648")               \
    X(TERMINATOR_STRANDED, "hyper #4143")      \
    X(SHUT_UNSENT, "hyper #4022")              \
    X(DRAIN_ASLEEP, "uvicorn #336, #2754")     \
    X(KEEP_ALIVE_IN_PIPELINE, "uvicorn #1637") \
    X(EMPTY_CHUNK, "Deno #17194")              \
    X(HEAD_LOST, "")                           \
    X(LOST_FLUSH, "")                          \
    X(LEAKED_TIMER, "")                        \
    X(LEAKED_TIMER_ON_CLOSE, "")               \
    X(SHORT_WRITE, "")                         \
    X(NO_TERMINATOR, "")                       \
    X(KEEPS_ALIVE, "")                         \
    X(PIPELINE_STALL, "")                      \
    X(CLOSE_UNSENT, "")                        \
    X(NO_LINGER, "")                           \
    X(ERROR_IN_BODY, "")                       \
    X(NO_CONTINUE, "")                         \
    X(NO_CONTINUE_BEHIND_START, "")            \
    X(NO_BODY_DEADLINE, "")                    \
    X(NO_WRITE_DEADLINE, "")                   \
    X(BUSY_WRITE, "")                          \
    X(HEAD_WITH_BODY, "")                      \
    X(NO_RELEASE, "")                          \
    X(SILENT_ABORT, "")                        \
    X(EOF_IGNORED, "")                         \
    X(EOF_UNTOLD, "")                          \
    X(BACKLOG_UNCOUNTED, "")                   \
    X(HINT_STRANDED, "")                       \
    X(HINT_TO_OLD, "")                         \
    X(TRAILERS_UNASKED, "")                    \
    X(TERMINATOR_FIRST, "")                    \
    X(TRAILERS_LOOSE, "")                      \
    X(RESET_FOR_END, "")                       \
    X(NO_LINGER_AT_END, "")                    \
    X(FILE_AGAIN, "")                          \
    X(FILE_SHORT, "")                          \
    X(FILE_KEPT, "")                           \
    X(FILE_ENDED, "")                          \
    X(FILE_LOOKS_WHOLE, "")

enum xs_mutant {
    XS_MUTANT_NONE,
#define X(name, what) XS_MUTANT_##name,
    XS_MUTANTS(X)
#undef X
        XS_MUTANT_COUNT
};

/* The one that is alive. */
extern enum xs_mutant xs_mutant;

/* Whether mutants.py found the place for it. */
extern const bool xs_mutants_planted[XS_MUTANT_COUNT];

#endif
