import asyncio
import gc
import unittest
import warnings

from convoke_sdk._async.transport import StreamTransport
from convoke_sdk._core.effects import Request

#: More turns than a request takes.
_TURNS_MAX = 1000


class Cancelling(unittest.TestCase):
    def test_a_request_that_is_cancelled_in_any_turn_of_the_loop_is_cancelled_and_leaves_no_socket(self) -> None:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", ResourceWarning)
            cancelled = asyncio.run(self.cancel_in_every_turn())
            gc.collect()
        self.assertGreater(cancelled, 5)
        self.assertEqual([str(one.message) for one in warned], [])

    async def cancel_in_every_turn(self) -> int:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = "http://127.0.0.1:{}/".format(server.sockets[0].getsockname()[1])
        try:
            for turns in range(_TURNS_MAX):
                if not await self.cancel_after(turns, Request("GET", url, {})):
                    return turns
            self.fail("the request does not end")
        finally:
            server.close()
            await server.wait_closed()

    async def cancel_after(self, turns: int, request: Request) -> bool:
        """Returns whether the request was cancelled before it had its response."""
        transport = StreamTransport()
        task = asyncio.ensure_future(transport.send(request, 60))
        for _ in range(turns):
            await asyncio.sleep(0)
        is_cancelled = task.cancel()
        if is_cancelled:
            with self.assertRaises(asyncio.CancelledError, msg=f"after {turns} turns"):
                await asyncio.wait_for(task, 30)
        else:
            (await task).close()
        await transport.close()
        return is_cancelled


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await reader.read()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.transport.abort()


if __name__ == "__main__":
    unittest.main()
