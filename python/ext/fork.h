/* fork.h - a child of the application that the application's process forks.
 *
 * It has a copy of all objects and shares their descriptors with its parent,
 * the poll's too. What was made before the fork stays the parent's: the child
 * writes nothing on a connection, serves nothing and closes nothing. It has
 * the call of the application that forked it to itself, and ends with it.
 *
 *     backend made     ──▶ remembers ext_fork_count()
 *     fork             ──▶ the child's count is one more
 *     the call returns ──▶ the child ends by ext_fork_leave()
 *
 * A child that makes a backend of its own serves as anybody does. */

#ifndef XS_EXT_FORK_H
#define XS_EXT_FORK_H

/* Begin to count. Once for each process is enough, more often is harmless. -1
 * with an exception set. */
int ext_fork_init(void);

/* How many forks it took to get from who loaded the extension to us. */
unsigned ext_fork_count(void);

/* End this process, a child: with the code of the SystemExit that is set, or
 * after a line that says why. No cleaning up: all of that is the parent's. */
__attribute__((noreturn, cold)) void ext_fork_leave(void);

/* Leave, unless `count` is ours: what was made at it may be used. GIL held. */
static inline void ext_fork_check(unsigned count)
{
    if (count != ext_fork_count()) {
        ext_fork_leave();
    }
}

#endif
