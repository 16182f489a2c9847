"""asyncio streams as a server of /chunks/N/S: python -m streams PORT"""

import asyncio
import sys


async def serve(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        _, _, count, size = head.split()[1].split(b"/")
        piece = b"x" * int(size)
        length = int(count) * int(size)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
        for _ in range(int(count)):
            writer.write(piece)
            await writer.drain()


async def main():
    async def quiet(reader, writer):
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(quiet, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
