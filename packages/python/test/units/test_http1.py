import unittest

from convoke_sdk._core.effects import BrokenConnection, Content, Request
from convoke_sdk._core.http1 import MalformedResponse, ResponseReader, chunk_of, head_of

CHUNKED = (
    b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nx-a: 2\r\n\r\n"
    b"5;name=value\r\nGr\xc3\xbc\xc3\r\n3\r\n\x9fe \r\n0\r\ntrailer: 1\r\n\r\n"
)
SIZED = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
OPEN = b"HTTP/1.0 200 OK\r\n\r\nhello"


class Responses(unittest.TestCase):
    def test_is_read_the_same_wherever_its_bytes_are_cut(self):
        for whole, body in ((CHUNKED, "Grüße ".encode()), (SIZED, b"hello"), (OPEN, b"hello")):
            for first in range(len(whole) + 1):
                reader = ResponseReader("GET")
                got = b"".join(reader.push(piece) for piece in (whole[:first], whole[first:]))
                if whole is OPEN:
                    self.assertFalse(reader.is_complete)
                    reader.end()
                self.assertEqual(got, body)
                self.assertTrue(reader.is_complete)
                self.assertEqual(reader.is_reusable, whole is not OPEN)

    def test_that_is_cut_is_never_complete(self):
        for whole in (CHUNKED, SIZED):
            for size in range(len(whole)):
                reader = ResponseReader("GET")
                reader.push(whole[:size])
                self.assertFalse(reader.is_complete, whole[:size])
                with self.assertRaises(BrokenConnection):
                    reader.end()

    def test_has_no_body_with_204(self):
        reader = ResponseReader("GET")
        reader.push(b"HTTP/1.1 204 No Content\r\n\r\n")
        self.assertTrue(reader.is_reusable)

    def test_is_not_kept_for_another_request_with_bytes_left_or_when_it_closes(self):
        for whole in (SIZED + b"HTTP/1.1 200", SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")):
            reader = ResponseReader("GET")
            reader.push(whole)
            self.assertTrue(reader.is_complete)
            self.assertFalse(reader.is_reusable)

    def test_that_breaks_the_protocol_is_refused(self):
        for bad in (
            b"SSH-2.0-OpenSSH\r\n\r\n",
            b"HTTP/1.1 101 Switching\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n folded: 1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 5000,
            b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"t: 1\r\n" * 20_000,
        ):
            with self.subTest(bad[:60]), self.assertRaises(MalformedResponse):
                ResponseReader("GET").push(bad)


class Requests(unittest.TestCase):
    def test_has_the_length_of_its_body_or_is_chunked(self):
        def head(body):
            return head_of(Request("PUT", "http://h:1/p?q=1", {"a": "b"}, body))

        self.assertEqual(head(b"xy"), b"PUT /p?q=1 HTTP/1.1\r\nhost: h:1\r\na: b\r\ncontent-length: 2\r\n\r\n")
        self.assertIn(b"content-length: 3", head(Content(lambda: iter(()), 3, True)))
        self.assertIn(b"transfer-encoding: chunked", head(Content(lambda: iter(()), None, True)))
        self.assertEqual(chunk_of(b"hello") + chunk_of(b""), b"5\r\nhello\r\n0\r\n\r\n")

    def test_cannot_be_given_headers_by_a_value(self):
        for headers in ({"a": "b\r\nevil: 1"}, {"a": "b\nc"}, {"a": "\0"}, {"a b": "c"}, {"a:": "c"}):
            with self.subTest(headers), self.assertRaises(ValueError):
                head_of(Request("GET", "http://h/", headers))


if __name__ == "__main__":
    unittest.main()
