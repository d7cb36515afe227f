"""The core decides without reading, sleeping or locking, so its decisions are tested without a server or a clock."""

import json
import unittest

from convoke_sdk import ConflictError, Convoke, Retry, ServerError
from convoke_sdk._core.calls import Call, Calls, Operation
from convoke_sdk._core.effects import Exclusive, Invoke, Read, Send, Sleep
from convoke_sdk._core.events import is_after
from convoke_sdk._core.interactions import Handlers, InteractionResponder
from convoke_sdk._core.requests import UNSET, input_of, present
from convoke_sdk._core.settings import Settings, settings_of
from convoke_sdk._core.sse import MessageParser, MessageTooLong
from convoke_sdk._core.tokens import ClientTokens, NoAuthority
from convoke_sdk.errors import error_from


class Streams(unittest.TestCase):
    def test_yield_the_same_messages_wherever_they_are_cut(self):
        text = "retry: 2000\n\n: ping\n\nid: 1\nevent: x\ndata: Grüße 👋🏽\ndata:two\n\nid: 2\n\ndata: half"
        for end in (b"\n", b"\r\n", b"\r"):
            whole = text.encode().replace(b"\n", end)
            for first in range(len(whole) + 1):
                parser = MessageParser()
                got = parser.push(whole[:first]) + parser.push(whole[first:])
                self.assertEqual(got, ["Grüße 👋🏽\ntwo"], first)
                self.assertEqual((parser.retry, parser.last_id), (2.0, "2"))

    def test_refuse_a_message_without_an_end(self):
        parser = MessageParser()
        with self.assertRaises(MessageTooLong):
            for _ in range(300):
                parser.push(b"x" * 65536)

    def test_order_events_by_their_ids(self):
        self.assertTrue(is_after("e2", "e1") and is_after("e10", "e9") and is_after("e1", None))
        self.assertFalse(is_after("e1", "e1") or is_after("e9", "e10"))


class Retries(unittest.TestCase):
    def test_read_errors_of_the_service_and_of_proxies(self):
        body = json.dumps({"error": "session_busy", "message": "Busy.", "request_id": "req_1"}).encode()
        error = error_from(409, {"retry-after": "7"}, body, "GET /")
        self.assertIsInstance(error, ConflictError)
        self.assertEqual(
            (error.code, error.status, error.request_id, error.retry_after, str(error)),
            ("session_busy", 409, "req_1", 7.0, "Busy."),
        )
        for status, body in ((502, b"<html>"), (502, b"[]"), (302, b""), (500, b"[" * 100_000)):
            self.assertIn(error_from(status, {}, body, "GET /").code, (f"http_{status}", "unexpected_redirect"))


class FakeResponse:
    status = 200
    headers: dict = {}

    def __init__(self, body):
        self.pieces = [body, b""]

    def close(self):
        pass


class Tokens(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.asked = 0
        self.is_down = False
        settings = Settings("http://h", retry=Retry(attempts=1), clock=lambda: self.now)
        self.tokens = ClientTokens(settings, "id", "secret", None)

    def get(self, rejected=None):
        return self.run_steps(self.tokens.get(rejected))

    def run_steps(self, steps):
        value = None
        try:
            while True:
                effect = steps.send(value)
                if isinstance(effect, Exclusive):
                    try:
                        value = self.run_steps(effect.steps)
                        continue
                    except ServerError as error:
                        steps.throw(error)
                if isinstance(effect, Send):
                    self.asked += 1
                    body = {"access_token": f"token-{self.asked}", "expires_in": 600}
                    value = FakeResponse(json.dumps(body).encode())
                    value.status = 503 if self.is_down else 200
                if isinstance(effect, Read):
                    value = effect.response.pieces.pop(0)
        except StopIteration as end:
            return end.value

    def test_are_renewed_when_a_fifth_of_their_life_is_left(self):
        self.assertEqual(self.get(), "token-1")
        self.now = 479
        self.assertEqual(self.get(), "token-1")
        self.now = 481
        self.assertEqual(self.get(), "token-2")

    def test_are_used_while_the_service_cannot_renew_them(self):
        self.get()
        self.is_down = True
        self.now = 500
        self.assertEqual(self.get(), "token-1")
        # It does not ask again for each request.
        self.assertEqual((self.get(), self.asked), ("token-1", 2))
        self.now = 601
        with self.assertRaises(ServerError):
            self.get()

    def test_are_replaced_once_after_they_were_rejected(self):
        self.assertEqual(self.get(), "token-1")
        self.assertEqual(self.get("token-1"), "token-2")
        # Another call was rejected with the old token, too.
        self.assertEqual((self.get("token-1"), self.asked), ("token-2", 2))


class Requests(unittest.TestCase):
    def test_that_other_people_have_to_allow_are_for_no_handler(self):
        handlers = Handlers(on_permission=lambda _: "allow", on_question=None)
        calls = Calls(Settings("http://h"), NoAuthority())
        responder = InteractionResponder(calls, "sess_1", "run_1", handlers, patience=120)
        record = {"kind": "permission", "interaction_key": "int_1"}
        self.assertEqual(list(responder.ask({**record, "can_allow": False})), [])
        for own in (record, {**record, "can_allow": True}):
            self.assertEqual(next(responder.ask(own)), Invoke(handlers.on_permission, (own,)))


    def test_wait_for_a_service_that_restarts(self):
        pending = {"interactions": [{"kind": "question", "interaction_key": "int_1", "run_id": "run_1"}]}
        now = 0.0
        left = 9

        class Restarting:
            settings = Settings("http://h", clock=lambda: now)

            def json(self, call):
                nonlocal left
                left -= 1
                if left > 0:
                    raise ServerError("it restarts", code="unavailable")
                return pending if call.operation.method == "GET" else {}
                yield

        handlers = Handlers(on_permission=None, on_question=lambda _: "red")

        def respond():
            responder = InteractionResponder(Restarting(), "sess_1", "run_1", handlers, patience=120)
            return responder.respond("int_1")

        steps = respond()
        effects = [next(steps) for _ in range(9)]
        self.assertTrue(all(isinstance(effect, Sleep) for effect in effects[:8]))
        self.assertIsInstance(effects[8], Invoke)
        left = 4
        self.assertIsInstance(steps.send("red"), Sleep)
        self.assertEqual(len(list(steps)), 2)
        # Not for ever.
        left = 9
        steps = respond()
        next(steps)
        now = 121.0
        with self.assertRaises(ServerError):
            next(steps)


class Values(unittest.TestCase):
    def test_ids_cannot_lead_to_another_resource(self):
        calls = Calls(Settings("http://h"), NoAuthority())
        operation = Operation("GET", "/v1/runs/{run_id}", "tenant", "always")
        for bad in ("", ".", "..", None, 5):
            with self.subTest(bad), self.assertRaises(ValueError):
                next(calls.json(Call(operation, {"run_id": bad})))
        sent = next(calls.json(Call(operation, {"run_id": "a/../b?c"}, {"q": ["x", "y"], "z": None, "w": True})))
        self.assertEqual(sent.request.url, "http://h/v1/runs/a%2F..%2Fb%3Fc?q=x&q=y&w=true")

    def test_addresses_are_checked(self):
        for bad in ("convoke.example", "https://h/v1", "https://h?x", "https://u:p@h", "https://ü", ""):
            with self.subTest(bad), self.assertRaises(ValueError):
                settings_of(bad, 30, None)
        with self.assertRaises(TypeError):
            Convoke(base_url="http://h")

    def test_fields_that_were_not_given_are_not_sent(self):
        self.assertEqual(present({"a": None, "b": UNSET, "c": None, "d": 0}, ("c",)), {"c": None, "d": 0})
        self.assertEqual(input_of("Hi", ["f"]), {"prompt": "Hi", "files": ["f"]})


if __name__ == "__main__":
    unittest.main()
