"""Known bugs in how an answer goes out and ends, for mutants.py."""

# Name, file, old text, new text. `ON` stands for the condition.
MUTANTS = [
    (
        "HINT_STRANDED",
        "core/conn/response.c",
        "        xs_tx_flush(conn); /* it is worth nothing later */\n"
        "        xs_tx_pushed(conn);",
        "        if (!ON) {\n            xs_tx_flush(conn);\n        }\n"
        "        xs_tx_pushed(conn);",
    ),
    (
        "HINT_BEHIND",
        "core/http1/aside.c",
        "    if (writer->state != XS_WRITER_IDLE) {",
        "    if (writer->state != XS_WRITER_IDLE &&\n"
        "        !(ON && writer->state == XS_WRITER_BODY)) {",
    ),
    (
        "HINT_TO_OLD",
        "core/http1/aside.c",
        "count == 0 || writer->minor == 0) {",
        "count == 0 || (writer->minor == 0 && !ON)) {",
    ),
    (
        "TRAILERS_UNASKED",
        "core/conn/response.c",
        "    return xs_aside_expect(&conn->tx.writer, "
        "conn->rx.parser.head.trailers);",
        "    return xs_aside_expect(&conn->tx.writer,\n"
        "                           conn->rx.parser.head.trailers || ON);",
    ),
    (
        "TERMINATOR_FIRST",
        "core/http1/aside.c",
        "    if (!queue->holding) {\n        xs_queue_hold(queue);",
        "    if (!queue->holding && ON) {\n"
        '        out = put(out, XS_LIT("0\\r\\n\\r\\n"));\n'
        "        xs_queue_hold(queue);\n    }\n"
        "    if (!queue->holding) {\n        xs_queue_hold(queue);",
    ),
    (
        "TRAILERS_LOOSE",
        "core/conn/response.c",
        "    xs_queue_unwrite(&conn->tx.queue); /* trailers that are not whole */",
        "    bool loose = ON;\n\n"
        "    if (loose) {\n        xs_queue_unhold(&conn->tx.queue);\n    } else {\n"
        "        xs_queue_unwrite(&conn->tx.queue);\n    }",
    ),
    (
        "FILE_AGAIN",
        "core/base/queue.c",
        "            piece->offset += part;",
        "            piece->offset += ON ? 0 : part;",
    ),
    (
        "FILE_SHORT",
        "core/conn/conn_tx.c",
        "    if (file != NULL && (took == 0 || took == XS_EIO)) {",
        "    if (ON && file != NULL && took == 0) {\n"
        "        xs_queue_consume(queue, file->len);\n"
        "        return true;\n    }\n"
        "    if (file != NULL && (took == 0 || took == XS_EIO)) {",
    ),
    (
        "FILE_KEPT",
        "core/base/queue.c",
        "    xs_queue_consume(queue, queue->bytes);\n"
        "    XS_ASSERT(queue->count == 0);",
        "    if (ON && xs_queue_file(queue) != NULL) {\n"
        "        queue->bytes = 0;\n        queue->count = 0;\n    }\n"
        "    xs_queue_consume(queue, queue->bytes);\n"
        "    XS_ASSERT(queue->count == 0);",
    ),
    (
        "FILE_ENDED",
        "core/conn/conn_tx.c",
        "    conn->tx.torn = false;",
        "    if (ON && conn->tx.writer.framing == XS_FRAMING_CHUNKED) {\n"
        "        (void)!xs_queue_copy(queue,\n"
        '                             XS_LIT("\\r\\n0\\r\\n\\r\\n"));\n'
        "    }\n    conn->tx.torn = false;",
    ),
    (
        "FILE_LOOKS_WHOLE",
        "core/conn/response.c",
        "    return conn->tx.writer.framing == XS_FRAMING_CLOSE ? ",
        "    return !ON && conn->tx.writer.framing == XS_FRAMING_CLOSE ? ",
    ),
    (
        "TERMINATOR_STRANDED",
        "core/conn/conn.c",
        "    unsigned events = conn->tx.blocked ? (unsigned)XS_IO_WRITE : 0;",
        "    bool last = ON && xs_queue_ready(&conn->tx.queue) == 5;\n"
        "    unsigned events =\n"
        "        conn->tx.blocked && !last ? (unsigned)XS_IO_WRITE : 0;",
    ),
    (
        "SHUT_UNSENT",
        "core/conn/conn.c",
        "    if (conn->state == XS_CONN_CLOSING &&\n        (conn->tx.broken ||",
        "    if (conn->state == XS_CONN_CLOSING &&\n"
        "        ((ON && conn->end == XS_CONN_END_LINGER) || conn->tx.broken ||",
    ),
    (
        "DRAIN_ASLEEP",
        "core/conn/conn.c",
        "    req->gateway->ops->on_abort(req, why);",
        "    if (!(ON && conn->tx.full)) {\n"
        "        req->gateway->ops->on_abort(req, why);\n    }",
    ),
    (
        "KEEP_ALIVE_IN_PIPELINE",
        "core/conn/conn_time.c",
        "        case XS_CONN_ACTIVE:\n            return conn->gw.wait_body",
        "        case XS_CONN_ACTIVE:\n"
        "            if (ON && conn->gw.number > 1) {\n"
        "                return XS_DEADLINE_KEEP_ALIVE;\n            }\n"
        "            return conn->gw.wait_body",
    ),
    (
        "HEAD_LOST",
        "core/conn/response.c",
        '    xs_request_end(conn, "failed");\n    xs_conn_shut(conn, xs_resp',
        '    xs_request_end(conn, "failed");\n'
        "    if (ON && conn->tx.writer.body_bytes == 0) {\n"
        "        xs_tx_drop(conn);\n    }\n"
        "    xs_conn_shut(conn, xs_resp",
    ),
]
