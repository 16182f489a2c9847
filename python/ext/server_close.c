/* server_close.c - the end of a server. */

#include "core/base/base.h"
#include "python/ext/server.h"

/* Turns after which a server that was aborted must have ended. */
#define CLOSE_TURNS_MAX 1000u

static void close_gateway(struct ext_server *server)
{
    struct ext_gateway *gateway = server->gateway;

    server->gateway = NULL;
    if (gateway != NULL) {
        gateway->ops->free(gateway);
    }
}

/* Applications and `on_stopped` are called from here, and threads may run. */
void ext_server_close(struct ext_server *server)
{
    struct ext_backend *backend = server->backend;

    XS_ASSERT(backend->depth == 1);
    if (server->core.state != XS_SERVER_STOPPED) {
        xs_server_stop(&server->core, 0);
    }
    for (unsigned i = 0; server->core.state != XS_SERVER_STOPPED; i++) {
        XS_ASSERT(i < CLOSE_TURNS_MAX);
        (void)backend->drive->ops->run(backend->drive, 0);
    }
    /* What workers posted before they heard of the end. */
    (void)backend->drive->ops->run(backend->drive, 0);
    if (server->access != NULL) {
        ext_access_close(server->access, server->logger);
    }
    xs_server_fini(&server->core);
    server->backend = NULL;
    close_gateway(server);
    backend->server = NULL;
    Py_DECREF(backend); /* who is inside has a reference */
}

bool ext_server_hand_over(struct ext_server *server)
{
    return server->backend != NULL &&
           !ext_backend_is_foreign(server->backend) &&
           ext_backend_hand_over(server->backend);
}

void ext_server_drop(struct ext_server *server)
{
    struct ext_backend *backend = server->backend;

    if (backend != NULL && ext_backend_is_foreign(backend)) {
        return; /* nor is what follows from it ours */
    }
    if (backend != NULL) {
        ext_backend_enter_to_close(backend);
        ext_server_close(server);
        ext_backend_leave(backend);
    }
    close_gateway(server); /* if it was never opened */
}
