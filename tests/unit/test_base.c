/* test_base.c - core/base/base.c: what stops the program, and what does not. */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "tests/testlib.h"

/* The signal that ends a process which does this, 0 if it goes on; what it
 * says is in `said`. */
static int child_dies_of(void (*what)(void), char *said, size_t size)
{
    int pipe_fd[2];
    int status = 0;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(pipe_fd), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(pipe_fd[1], STDERR_FILENO);
        what();
        _exit(0);
    }
    (void)close(pipe_fd[1]);
    n = read(pipe_fd[0], said, size - 1);
    assert_true(n >= 0);
    said[n] = '\0';
    (void)close(pipe_fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void broken(void)
{
    int two = 2;

    XS_ASSERT(two == 3);
}

static void whole(void)
{
    int two = 2;

    XS_ASSERT(two == 2);
}

static void unreachable(void)
{
    XS_UNREACHABLE();
}

static void assert_stops_the_program_when_broken(void **state)
{
    char said[256];
    int signal_no;
    (void)state;

    signal_no = child_dies_of(broken, said, sizeof said);

    assert_int_equal(signal_no, SIGABRT);
    assert_non_null(strstr(said, "broken invariant: two == 3"));
    assert_non_null(strstr(said, "test_base.c:"));
}

static void assert_says_nothing_when_it_holds(void **state)
{
    char said[256];
    int signal_no;
    (void)state;

    signal_no = child_dies_of(whole, said, sizeof said);

    assert_int_equal(signal_no, 0);
    assert_string_equal(said, "");
}

static void unreachable_stops_the_program(void **state)
{
    char said[256];
    (void)state;

    assert_int_equal(child_dies_of(unreachable, said, sizeof said), SIGABRT);
    assert_non_null(strstr(said, "unreachable"));
}

struct outer {
    char before;
    int inner;
};

static void container_of_finds_the_outer_struct(void **state)
{
    struct outer outer = {'a', 1};
    (void)state;

    assert_ptr_equal(xs_container_of(&outer.inner, struct outer, inner),
                     &outer);
}

static void count_of_counts_elements(void **state)
{
    int three[3] = {0};
    (void)state;

    (void)three;
    assert_int_equal(XS_COUNT_OF(three), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assert_stops_the_program_when_broken),
        cmocka_unit_test(assert_says_nothing_when_it_holds),
        cmocka_unit_test(unreachable_stops_the_program),
        cmocka_unit_test(container_of_finds_the_outer_struct),
        cmocka_unit_test(count_of_counts_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
