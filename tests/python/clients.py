"""Client libraries that people use, behind one face, for tests.

Each keeps its connections. A body is bytes, or a list of pieces that are sent
with chunks. ``Cut`` is what it raises if an answer breaks off.
"""

import asyncio
import io

import httpx
import pytest

from serving import PATIENCE


class Httpx:
    Cut = httpx.RemoteProtocolError

    def __init__(self, url):
        self._client = httpx.Client(base_url=url, timeout=PATIENCE)

    def ask(self, method, path, body=None):
        """Status, fields and body of the answer."""
        if isinstance(body, list):
            body = iter(body)
        answer = self._client.request(method, path, content=body)
        return answer.status_code, answer.headers, answer.content

    def pieces(self, path):
        with self._client.stream("GET", path) as answer:
            yield from answer.iter_raw()

    def close(self):
        self._client.close()


class Requests:
    def __init__(self, url):
        requests = pytest.importorskip("requests")
        self.Cut = requests.exceptions.ChunkedEncodingError
        self._url = url
        self._session = requests.Session()

    def ask(self, method, path, body=None):
        if isinstance(body, list):
            body = iter(body)
        answer = self._session.request(
            method, self._url + path, data=body, timeout=PATIENCE
        )
        return answer.status_code, answer.headers, answer.content

    def pieces(self, path):
        url = self._url + path
        with self._session.get(url, stream=True, timeout=PATIENCE) as answer:
            yield from answer.raw.stream()

    def close(self):
        self._session.close()


class Aiohttp:
    def __init__(self, url):
        self._aiohttp = pytest.importorskip("aiohttp")
        self.Cut = self._aiohttp.ClientPayloadError
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._session = self._run(self._open())

    def _run(self, coroutine):
        return self._loop.run_until_complete(
            asyncio.wait_for(coroutine, PATIENCE)
        )

    async def _open(self):
        return self._aiohttp.ClientSession()

    async def _ask(self, method, path, body):
        await asyncio.sleep(0)  # the loop stood still: it hears of what came
        await asyncio.sleep(0)
        url = self._url + path
        async with self._session.request(method, url, data=body) as answer:
            return answer.status, answer.headers, await answer.read()

    def ask(self, method, path, body=None):
        async def pieces(parts):
            for piece in parts:
                yield piece

        if isinstance(body, list):
            body = pieces(body)
        elif body is not None:
            body = io.BytesIO(body)
        return self._run(self._ask(method, path, body))

    def pieces(self, path):
        answer = self._run(self._begin(path))
        while piece := self._run(answer.content.readany()):
            yield piece
        answer.release()

    async def _begin(self, path):
        return await self._session.get(self._url + path)

    def close(self):
        self._run(self._session.close())
        self._loop.close()


ALL = [Httpx, Requests, Aiohttp]
