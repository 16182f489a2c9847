/* label.h - every kind of choice that a simulation makes, once.
 *
 * A choice is made under a label, so that it can be counted, switched off,
 * replayed and shrunk by what it means. Value 0 is always the benign choice:
 * the one that makes progress and surprises nobody.
 *
 * The classes:
 *   ODD   legal and harmless: a good server does not mind
 *   KILL  ends a connection early, and so hides what would have come later
 *   ORDER who comes first; no order is better than another
 *   PLAN  what peers and applications set out to do
 *
 * Bytes that stand for choices come in lanes, by who chooses: one more choice
 * of a client's does not turn all of an application's into others. */

#ifndef XS_SIM_LABEL_H
#define XS_SIM_LABEL_H

enum xs_label_class {
    XS_CLASS_ODD,
    XS_CLASS_KILL,
    XS_CLASS_ORDER,
    XS_CLASS_PLAN,
};

enum xs_lane {
    XS_LANE_WORLD,   /* the run: its size, its limits, its faults */
    XS_LANE_PEER,    /* scripted clients */
    XS_LANE_APP,     /* scripted applications */
    XS_LANE_WEATHER, /* all that is not PLAN */
    XS_LANE_COUNT
};

/* clang-format off */
#define XS_LABELS(X)                                                          \
    /* The system calls of the server. */                                     \
    X(RECV_SHORT, ODD, "recv.short", "recv gives less than there is")         \
    X(RECV_AGAIN, ODD, "recv.again", "recv says AGAIN despite readiness")     \
    X(WRITE_SHORT, ODD, "write.short", "writev takes less than fits")         \
    X(WRITE_AGAIN, ODD, "write.again", "writev says AGAIN despite readiness") \
    X(FILE_SLOW, ODD, "file.slow", "a file's bytes are not in memory yet")    \
    X(FILE_ENDS, KILL, "file.ends", "a file is shorter than it was")          \
    X(FILE_FAILS, KILL, "file.fails", "a file cannot be read")                \
    X(UNACKED_UNKNOWN, ODD, "unacked.unknown", "unacked cannot say")          \
    X(ACCEPT_MFILE, ODD, "accept.mfile", "no descriptors left")               \
    X(ACCEPT_ABORTED, KILL, "accept.aborted", "gone before it was accepted")  \
    X(READY_LATE, ODD, "ready.late", "readiness is told a while later")       \
    X(READY_SPURIOUS, ODD, "ready.spurious", "an event without a reason")     \
    X(READY_PART, ODD, "ready.part", "only some of the true events are told") \
    X(MEM_FAIL, KILL, "mem.fail", "an allocation fails")                      \
    /* The network. */                                                        \
    X(NET_DELAY, ODD, "net.delay", "bytes are on their way for a while")      \
    X(NET_SPLIT, ODD, "net.split", "bytes arrive in parts")                   \
    X(NET_ACK, ODD, "net.ack", "an acknowledgement is late")                  \
    X(NET_SEND_BUFFER, ODD, "net.send_buffer", "a tiny or huge send buffer")  \
    X(NET_RECV_BUFFER, ODD, "net.recv_buffer", "a tiny or huge window")       \
    X(NET_HOLE, KILL, "net.hole", "nothing arrives any more, in silence")     \
    X(NET_RESET_RECV, KILL, "net.reset_recv", "a reset shows at a recv")      \
    X(NET_RESET_WRITE, KILL, "net.reset_write", "a reset shows at a writev")  \
    X(NET_LOST, KILL, "net.lost", "what writev took is lost, then a reset")   \
    X(NET_PURGE, ODD, "net.purge", "a reset destroys bytes that had arrived") \
    /* Time. */                                                               \
    X(TIME_ALARM, ODD, "time.alarm", "the alarm is late")                     \
    X(TIME_STEP, ODD, "time.step", "time passes between two callbacks")       \
    X(TIME_PAUSE, ODD, "time.pause", "the process stands still for seconds")  \
    X(TIME_WALL, PLAN, "time.wall", "the time of day at the start")           \
    /* Order. */                                                              \
    X(ORDER_READY, ORDER, "order.ready", "which ready connection is next")    \
    X(ORDER_DEFER, ORDER, "order.defer", "on_defer comes at once, not last")  \
    /* The run. */                                                            \
    X(SWARM_ON, PLAN, "swarm.on", "whether a fault can happen in this run")   \
    X(SWARM_KILL, PLAN, "swarm.kill", "whether connections may be killed")    \
    X(SWARM_RATIO, PLAN, "swarm.ratio", "how often a fault happens")          \
    X(RANDOM, PLAN, "random", "the seed of the random bytes")                 \
    X(WORLD, PLAN, "world", "how many clients, which limits")                 \
    X(WORLD_STOP, PLAN, "world.stop", "when the server is told to stop")      \
    /* Scripted clients. */                                                   \
    X(PEER_COUNT, PLAN, "peer.count", "how many requests a client has")       \
    X(PEER_START, PLAN, "peer.start", "when a client connects")               \
    X(PEER_REQUEST, PLAN, "peer.request", "what a request looks like")        \
    X(PEER_BODY, PLAN, "peer.body", "the size and framing of its body")       \
    X(PEER_BAD, PLAN, "peer.bad", "a request that has to be refused")         \
    X(PEER_PIPELINE, PLAN, "peer.pipeline", "requests sent before answers")   \
    X(PEER_SEGMENT, PLAN, "peer.segment", "how the bytes are cut")            \
    X(PEER_PACE, PLAN, "peer.pace", "pauses between the segments")            \
    X(PEER_READ, PLAN, "peer.read", "how fast a client reads")                \
    X(PEER_END, PLAN, "peer.end", "how and when a client ends")               \
    /* Scripted applications. */                                              \
    X(APP_BODY, PLAN, "app.body", "when the request body is read")            \
    X(APP_HEAD, PLAN, "app.head", "status and framing of the response")       \
    X(APP_FIELD, PLAN, "app.field", "more response fields")                   \
    X(APP_PIECE, PLAN, "app.piece", "how the response body is cut")           \
    X(APP_PACE, PLAN, "app.pace", "pauses between the pieces")                \
    X(APP_FILE, PLAN, "app.file", "which pieces are ranges of files")         \
    X(APP_FLUSH, PLAN, "app.flush", "a flush after a piece")                  \
    X(APP_FAIL, PLAN, "app.fail", "the application fails")                    \
    X(APP_HANG, PLAN, "app.hang", "the application never goes on")            \
    X(APP_HINT, PLAN, "app.hint", "early hints, and trailers")                \
    X(APP_WRONG, PLAN, "app.wrong", "the application breaks a rule")          \
    /* Tests of the tape itself. */                                           \
    X(TEST, PLAN, "test", "whatever a test wants")
/* clang-format on */

enum xs_label {
#define X(name, class, word, text) XS_LABEL_##name,
    XS_LABELS(X)
#undef X
        XS_LABEL_COUNT
};

/* The word, "recv.short", and the sentence; both static. */
const char *xs_label_word(enum xs_label label);
const char *xs_label_text(enum xs_label label);
enum xs_label_class xs_label_class(enum xs_label label);
enum xs_lane xs_label_lane(enum xs_label label);

#endif
