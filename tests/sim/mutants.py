#!/usr/bin/env python3
"""Plants known bugs in a copy of the core, for tests/sim/test_sim_mutants.c.

    mutants.py SOURCE OUT     write OUT/core/... and OUT/mutants_planted.c

mutants.h says what each is. All of them are in the copy at once, each behind
`xs_mutant == XS_MUTANT_NAME`; the core itself knows nothing of this. A mutant
whose text the core no longer has is left out here with a warning, and missed
by the test: let it follow the change.
"""

import pathlib
import re
import sys

import mutants_answers

# Name, file, old text, new text: those of mutants_answers.py are behind them.
# `ON` stands for the condition.
MUTANTS = [
    (
        "LOST_FLUSH",
        "core/conn/conn_tx.c",
        "    xs_conn_dirty(conn);\n}\n\nbool xs_tx_drain",
        "    if (!ON) {\n        xs_conn_dirty(conn);\n    }\n}\n\n"
        "bool xs_tx_drain",
    ),
    (
        "HEAD_TWICE",
        "core/http1/writer.c",
        "        .with_head = writer->state == XS_WRITER_HEAD,\n",
        "        .with_head = writer->state == XS_WRITER_HEAD ||\n"
        "                     (ON && writer->body_bytes > 0),\n",
    ),
    (
        "LEAKED_TIMER",
        "core/conn/conn_time.c",
        "        if (xs_deadline_armed(&conn->writing)) {",
        "        if (!ON && xs_deadline_armed(&conn->writing)) {",
    ),
    (
        "LEAKED_TIMER_ON_CLOSE",
        "core/conn/conn.c",
        "    xs_time_disarm(conn);\n",
        "    if (!ON) {\n        xs_time_disarm(conn);\n    }\n",
    ),
    (
        "SHORT_WRITE",
        "core/conn/conn_tx.c",
        "    xs_queue_consume(queue, (size_t)took);",
        "    xs_queue_consume(queue, ON ? offered : (size_t)took);",
    ),
    (
        "NO_TERMINATOR",
        "core/http1/writer.c",
        "        .terminator = chunked && !more && !writer->trailing,",
        "        .terminator = chunked && !more && !writer->trailing &&\n"
        "                      !(ON && !with_data),",
    ),
    (
        "EMPTY_CHUNK",
        "core/http1/writer.c",
        "        .chunk = chunked && with_data,",
        "        .chunk = chunked && (with_data || ON),",
    ),
    (
        "DRAIN_EDGE",
        "core/conn/conn_tx.c",
        "xs_queue_ready(&conn->tx.queue) > limits->tx_low ||",
        "xs_queue_ready(&conn->tx.queue) + ON > limits->tx_low ||",
    ),
    (
        "DRAIN_TWICE",
        "core/conn/conn_tx.c",
        "    conn->tx.full = false;\n    if (conn->state != XS_CONN_ACTIVE) {",
        "    conn->tx.full = ON && conn->tx.turn_bytes > 5000;\n"
        "    if (conn->state != XS_CONN_ACTIVE) {",
    ),
    (
        "KEEPS_ALIVE",
        "core/conn/response.c",
        "    if (!keep) {",
        "    if (!keep && !(ON && !rest)) {",
    ),
    (
        "PIPELINE_STALL",
        "core/conn/conn_rx.c",
        "    return conn->state == XS_CONN_IDLE && "
        "conn->rx.parsed < conn->rx.end &&",
        "    return !ON && conn->state == XS_CONN_IDLE &&\n"
        "           conn->rx.parsed < conn->rx.end &&",
    ),
    (
        "HEAD_DEADLINE",
        "core/conn/conn.c",
        "    if (next == XS_CONN_ACTIVE) {",
        "    if (next == XS_CONN_ACTIVE && !ON) {",
    ),
    (
        "CLOSE_UNSENT",
        "core/conn/conn.c",
        "        (conn->tx.broken || conn->tx.queue.bytes == 0)) {",
        "        (conn->tx.broken || conn->tx.queue.bytes == 0 || ON)) {",
    ),
    (
        "NO_LINGER",
        "core/conn/response.c",
        "                conn->rx.parser.head.keep_alive;",
        "                (conn->rx.parser.head.keep_alive && !ON);",
    ),
    (
        "ERROR_IN_BODY",
        "core/conn/response.c",
        "    if (writer->state >= XS_WRITER_BODY) {\n"
        "        response_fail_late(conn);",
        "    if (ON && writer->state >= XS_WRITER_BODY) {\n"
        "        writer->state = XS_WRITER_IDLE;\n    }\n"
        "    if (writer->state >= XS_WRITER_BODY) {\n"
        "        response_fail_late(conn);",
    ),
    (
        "NO_CONTINUE",
        "core/conn/request.c",
        "    if (!conn->gw.continue_owed ||",
        "    if (ON || !conn->gw.continue_owed ||",
    ),
    (
        "NO_CONTINUE_BEHIND_START",
        "core/conn/request.c",
        "conn->tx.writer.state > XS_WRITER_HEAD) {",
        "conn->tx.writer.state > XS_WRITER_HEAD - ON) {",
    ),
    (
        "NO_BODY_DEADLINE",
        "core/conn/conn_time.c",
        "            return conn->gw.wait_body ? XS_DEADLINE_BODY : NO_TIMER;",
        "            return conn->gw.wait_body && !ON ? XS_DEADLINE_BODY\n"
        "                                              : NO_TIMER;",
    ),
    (
        "NO_WRITE_DEADLINE",
        "core/conn/conn_time.c",
        "    if (fresh || !xs_deadline_armed(&conn->writing)) {",
        "    if (!ON && (fresh || !xs_deadline_armed(&conn->writing))) {",
    ),
    (
        "HASTY_WRITE_DEADLINE",
        "core/conn/conn_tx.c",
        "    conn->tx.progress = true;",
        "    conn->tx.progress = !ON;",
    ),
    (
        "BUSY_WRITE",
        "core/conn/conn_tx.c",
        "    if (took == XS_EAGAIN) {\n        conn->tx.blocked = true;",
        "    if (took == XS_EAGAIN) {\n        conn->tx.blocked = !ON;",
    ),
    (
        "HEAD_WITH_BODY",
        "core/http1/writer.c",
        "    if (writer->bodiless || writer->is_head) {\n"
        "        return XS_FRAMING_NONE;",
        "    if (writer->bodiless || (writer->is_head && !ON)) {\n"
        "        return XS_FRAMING_NONE;",
    ),
    (
        "NO_RELEASE",
        "core/http1/writer.c",
        "    if (lent->release != NULL && !plan.lend) {",
        "    if (lent->release != NULL && !plan.lend && !ON) {",
    ),
    (
        "LEAKED_BLOCK",
        "core/conn/conn_rx.c",
        "        xs_pool_give(&conn->server->block_pool, conn->rx.block);\n"
        "        conn->rx.block = NULL;\n    }\n    conn->rx.head_at = 0;",
        "        if (!ON) {\n"
        "            xs_pool_give(&conn->server->block_pool, conn->rx.block);\n"
        "        }\n"
        "        conn->rx.block = NULL;\n    }\n    conn->rx.head_at = 0;",
    ),
    (
        "ANY_LENGTH",
        "core/http1/writer.c",
        "    if (!writer->has_length || writer->is_head || writer->bodiless) {",
        "    if (!writer->has_length || writer->is_head || writer->bodiless ||\n"
        "        ON) {",
    ),
    (
        "SILENT_ABORT",
        "core/conn/conn.c",
        "    req->gateway->ops->on_abort(req, why);",
        "    if (!ON) {\n        req->gateway->ops->on_abort(req, why);\n    }",
    ),
    (
        "EOF_IGNORED",
        "core/conn/conn_rx.c",
        "    } else if (conn->rx.message && conn->rx.eof && ",
        "    } else if (conn->rx.message && conn->rx.eof && !ON && ",
    ),
    (
        "BODY_ONCE",
        "core/conn/request.c",
        "    if (conn->gw.wait_body &&\n",
        "    if (conn->gw.wait_body &&\n"
        "        (!ON || conn->rx.parser.body_total == "
        "conn->rx.parser.body_len) &&\n",
    ),
    (
        "ACCEPT_STALL",
        "core/conn/server.c",
        "        if (server->state == XS_SERVER_RUNNING) {\n"
        "            server_accept_want(server, true);",
        "        if (server->state == XS_SERVER_RUNNING && !ON) {\n"
        "            server_accept_want(server, true);",
    ),
    (
        "STOP_HANGS",
        "core/conn/conn_rx.c",
        "    if (conn->state == XS_CONN_IDLE && server->state != ",
        "    if (conn->state == XS_CONN_IDLE && !ON && server->state != ",
    ),
    (
        "STOP_DROPS",
        "core/conn/conn_rx.c",
        "    if (rx_is_dry(conn)) {\n        xs_rx_receive(conn);",
        "    if (rx_is_dry(conn) && !ON) {\n        xs_rx_receive(conn);",
    ),
    (
        "STOP_LOSES",
        "core/conn/conn_rx.c",
        "        !xs_rx_is_fresh(conn) && xs_rx_is_silent(conn)) {",
        "        (!xs_rx_is_fresh(conn) || ON) && xs_rx_is_silent(conn)) {",
    ),
    (
        "STOP_LOSES_HEAD",
        "core/conn/server.c",
        "        if (conn->state == XS_CONN_HEAD && !xs_rx_is_fresh(conn)) {",
        "        if (conn->state == XS_CONN_HEAD &&\n"
        "            (!xs_rx_is_fresh(conn) || ON)) {",
    ),
    (
        "STOP_DEAF",
        "core/conn/conn.c",
        "    if (conn->state != XS_CONN_CLOSING && xs_rx_listens(conn)) {",
        "    if (conn->state != XS_CONN_CLOSING && xs_rx_listens(conn) &&\n"
        "        !(ON && conn->server->state == XS_SERVER_STOPPING &&\n"
        "          conn->state == XS_CONN_IDLE)) {",
    ),
    (
        "STAYS_FRESH",
        "core/conn/conn_time.c",
        "    if (server->state == XS_SERVER_STOPPING && "
        "xs_rx_is_fresh(conn)) {",
        "    if (server->state == XS_SERVER_STOPPING && !ON &&\n"
        "        xs_rx_is_fresh(conn)) {",
    ),
    (
        "EOF_BEHIND_OUTPUT",
        "core/conn/conn_rx.c",
        "    if (rx_is_dry(conn) && conn->rx.eof) {",
        "    if (rx_is_dry(conn) && conn->rx.eof &&\n"
        "        !(ON && xs_tx_is_over(conn))) {",
    ),
    (
        "BACKLOG_OF_THE_FASTEST",
        "core/conn/server.c",
        "    return xs_container_of(list->next, struct xs_conn, writing.link);",
        "    return xs_container_of(ON ? list->prev : list->next,\n"
        "                           struct xs_conn, writing.link);",
    ),
    (
        "BACKLOG_UNCOUNTED",
        "core/conn/conn.c",
        "    if (backlog != conn->backlog) {",
        "    if (backlog != conn->backlog &&\n"
        "        !(ON && conn->state == XS_CONN_CLOSED)) {",
    ),
    (
        "BACKLOG_UNBOUNDED",
        "core/conn/server.c",
        "    while (server->stats.backlog > server->config.limits.backlog_max) {",
        "    while (!ON &&\n"
        "           server->stats.backlog > server->config.limits.backlog_max) {",
    ),
    (
        "EOF_UNTOLD",
        "core/conn/request.c",
        "        (conn->rx.eof || conn->rx.hangup) && !conn->gw.eof_told) {",
        "        ((conn->rx.eof && !ON) || conn->rx.hangup) &&\n"
        "        !conn->gw.eof_told) {",
    ),
    (
        "LINGERS_ON",
        "core/conn/conn.c",
        "    } else if (conn->server->state == XS_SERVER_STOPPING) {\n"
        "        xs_server_look(conn->server, 0);",
        "    } else if (conn->server->state == XS_SERVER_STOPPING && !ON) {\n"
        "        xs_server_look(conn->server, 0);",
    ),
    (
        "HASTY_STOP",
        "core/conn/conn.c",
        "           conn->server->io->ops->unacked(conn->io) == 0;",
        "           (conn->server->io->ops->unacked(conn->io) == 0 || ON);",
    ),
    (
        "ONE_TOO_MANY",
        "core/conn/response.c",
        "        (max != 0 && conn->gw.number >= max)) {",
        "        (max != 0 && conn->gw.number >= max + ON)) {",
    ),
    (
        "REFUSED_HEAD",
        "core/conn/conn_rx.c",
        ": xs_parser_is_head(parser);",
        ": xs_parser_is_head(parser) && !ON;",
    ),
    (
        "REFUSAL_UNTOLD",
        "core/conn/conn.c",
        "    if (refusal != XS_REFUSE_NOT) {\n        xs_server_refused",
        "    if (refusal != XS_REFUSE_NOT && !ON) {\n        xs_server_refused",
    ),
    (
        "RESET_FOR_END",
        "core/conn/conn.c",
        "    if (conn_may_end(conn)) {",
        "    if (ON && conn->tx.writer.framing == XS_FRAMING_CLOSE) {\n"
        "        xs_conn_close(conn, true);\n        return;\n    }\n"
        "    if (conn_may_end(conn)) {",
    ),
    (
        "NO_LINGER_AT_END",
        "core/conn/response.c",
        "        xs_conn_shut(conn, rest ? XS_CONN_END_LINGER",
        "        xs_conn_shut(conn, rest && !(ON && conn->tx.writer.framing ==\n"
        "                                              XS_FRAMING_CLOSE)\n"
        "                               ? XS_CONN_END_LINGER",
    ),
    (
        "LINGERS_ONCE",
        "core/conn/conn_rx.c",
        "                if (conn->rx.eof) {\n"
        "                    xs_conn_close(conn, conn->tx.broken);",
        "                if (conn->rx.eof ||\n"
        "                    (ON && conn->rx.discarded > 0 &&\n"
        "                     conn->tx.writer.framing == XS_FRAMING_CLOSE &&\n"
        "                     conn->server->io->ops->unacked(conn->io) == 0)) {\n"
        "                    xs_conn_close(conn, conn->tx.broken);",
    ),
    (
        "LINGER_RESET",
        "core/conn/conn_rx.c",
        "                    xs_conn_close(conn, conn->tx.broken);",
        "                    xs_conn_close(\n"
        "                        conn,\n"
        "                        conn->tx.broken ||\n"
        "                            (ON && conn->tx.writer.framing ==\n"
        "                                       XS_FRAMING_CLOSE &&\n"
        "                             conn->server->io->ops->unacked(conn->io) == 0));",
    ),
    (
        "DEADLINE_BLIND",
        "core/conn/conn_time.c",
        "    xs_rx_look(conn);\n    xs_conn_turn(conn);\n",
        "    if (!ON) {\n        xs_rx_look(conn);\n    }\n"
        "    xs_conn_turn(conn);\n",
    ),
]


def plant(source, out):
    texts = {}
    planted = []
    for name, file, old, new in MUTANTS + mutants_answers.MUTANTS:
        text = texts.get(file)
        if text is None:
            text = (source / file).read_text()
        if text.count(old) == 1:
            condition = f"(xs_mutant == XS_MUTANT_{name})"
            text = text.replace(old, re.sub(r"\bON\b", condition, new))
            planted.append(name)
        else:
            print(
                f"mutants.py: {name} is not planted: {file} has its text"
                f" {text.count(old)} times",
                file=sys.stderr,
            )
        texts[file] = text
    for file, text in texts.items():
        path = out / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "tests/sim/mutants.h"\n{text}')
    rows = "".join(f"    [XS_MUTANT_{name}] = true,\n" for name in planted)
    (out / "mutants_planted.c").write_text(
        '#include "tests/sim/mutants.h"\n'
        "const bool xs_mutants_planted[XS_MUTANT_COUNT] = {\n"
        f"    [XS_MUTANT_NONE] = true,\n{rows}}};\n"
    )


if __name__ == "__main__":
    plant(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
