/* rules_post.c - jobs from any thread: rules 1 and 12 of io.h. */

#include <pthread.h>

#include "tests/contract/contract.h"

enum { JOBS = 100, THREADS = 4 };

struct job {
    struct xs_io_job base;
    struct world *world;
    unsigned thread;
    unsigned number;
};

/* What the jobs of a rule have seen. Touched on the backend's thread only. */
struct tally {
    pthread_t thread;
    unsigned run;
    unsigned next[THREADS]; /* the number of the job that should come */
};

static void on_job(struct xs_io_job *base)
{
    struct job *job = xs_container_of(base, struct job, base);
    struct tally *tally = job->world->user;

    assert_true(pthread_equal(pthread_self(), tally->thread));
    assert_int_equal(job->number, tally->next[job->thread]);
    tally->next[job->thread]++;
    tally->run++;
}

static struct tally tally_start(struct world *world)
{
    (void)world;
    return (struct tally){.thread = pthread_self()};
}

static void jobs_run_once_in_the_order_of_posting(struct world *world)
{
    struct job jobs[JOBS];
    struct tally tally = tally_start(world);

    world->user = &tally;
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){{on_job, NULL}, world, 0, i};
        world->io->ops->post(world->io, &jobs[i].base);
    }
    assert_int_equal(tally.run, 0);
    world_until_is(world, &tally.run, JOBS);
    world_settle(world);

    assert_int_equal(tally.run, JOBS);
}

static void on_first_job(struct xs_io_job *base)
{
    struct job *job = xs_container_of(base, struct job, base);
    struct job *second = job + 1;

    on_job(base);
    job->world->io->ops->post(job->world->io, &second->base);
    assert_int_equal(((struct tally *)job->world->user)->run, 1);
}

static void a_job_posted_by_a_job_runs_after_it(struct world *world)
{
    struct tally tally = tally_start(world);
    struct job jobs[2] = {
        {{on_first_job, NULL}, world, 0, 0},
        {{on_job, NULL}, world, 0, 1},
    };

    world->user = &tally;
    world->io->ops->post(world->io, &jobs[0].base);
    world_until_is(world, &tally.run, 2);

    assert_int_equal(tally.run, 2);
}

struct poster {
    struct world *world;
    struct job jobs[JOBS];
};

static void *poster_run(void *arg)
{
    struct poster *poster = arg;

    for (unsigned i = 0; i < JOBS; i++) {
        poster->world->io->ops->post(poster->world->io, &poster->jobs[i].base);
    }
    return NULL;
}

/* Nothing else is due: without the posts the backend would wait for ever. */
static void jobs_from_other_threads_wake_a_waiting_backend(struct world *world)
{
    static struct poster posters[THREADS];
    pthread_t threads[THREADS];
    struct tally tally = tally_start(world);

    world->user = &tally;
    for (unsigned t = 0; t < THREADS; t++) {
        posters[t].world = world;
        for (unsigned i = 0; i < JOBS; i++) {
            posters[t].jobs[i] = (struct job){{on_job, NULL}, world, t, i};
        }
    }
    for (unsigned t = 0; t < THREADS; t++) {
        assert_int_equal(
            pthread_create(&threads[t], NULL, poster_run, &posters[t]), 0);
    }
    while (tally.run < JOBS * THREADS) {
        world_run(world, XS_NEVER);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    }

    assert_int_equal(tally.run, JOBS * THREADS);
}

static void on_defer_job(struct xs_io_job *base)
{
    struct job *job = xs_container_of(base, struct job, base);

    on_job(base);
    job->world->io->ops->defer(job->world->io);
    job->world->io->ops->alarm(job->world->io,
                               job->world->io->ops->now(job->world->io));
}

static void a_job_may_call_the_backend(struct world *world)
{
    struct tally tally = tally_start(world);
    struct job job = {{on_defer_job, NULL}, world, 0, 0};

    world->user = &tally;
    world->io->ops->post(world->io, &job.base);
    world_until(world, &world->defers);
    world_until(world, &world->alarms);

    assert_int_equal(tally.run, 1);
}

const struct rule rules_post[] = {
    RULE(jobs_run_once_in_the_order_of_posting),
    RULE(a_job_posted_by_a_job_runs_after_it),
    RULE(jobs_from_other_threads_wake_a_waiting_backend),
    RULE(a_job_may_call_the_backend),
    {NULL, NULL},
};
