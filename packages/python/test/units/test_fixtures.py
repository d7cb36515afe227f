"""Cases that the clients of every language read (D-226); in TypeScript: packages/sdk/test/fixtures.test.ts."""

import json
import pathlib
import unittest

from convoke_sdk import ConnectionFailedError, Retry, RunText, WebhookVerificationError, verify_webhook
from convoke_sdk._core.retry import pause_before_retry
from convoke_sdk._core.sse import MessageParser
from convoke_sdk.errors import error_from

FIXTURES = pathlib.Path(__file__).parents[3] / "contract" / "fixtures"


def cases(file):
    return json.loads((FIXTURES / file).read_text(encoding="utf-8"))


def failure(given):
    if given == "lost":
        return ConnectionFailedError("", code="connection_failed")
    return error_from(given["status"], {"retry-after": str(given.get("retry_after", ""))}, b"", "GET /")


class Fixtures(unittest.TestCase):
    def test_streams(self):
        for case in cases("event-streams.json"):
            retry = case["retry_ms"] / 1000 if "retry_ms" in case else None
            for end in ("\n", "\r\n", "\r"):
                whole = case["stream"].replace("\n", end).encode()
                for cut in range(len(whole) + 1):
                    parser = MessageParser()
                    got = parser.push(whole[:cut]) + parser.push(whole[cut:])
                    self.assertEqual((got, parser.retry), (case["messages"], retry), case["name"])

    def test_texts_of_runs(self):
        for case in cases("run-texts.json"):
            joined = RunText()
            drops = [joined.take(event) for event in case["events"]]
            self.assertEqual((joined.text, True in drops), (case["text"], case["dropped"]), case["name"])

    def test_pauses_before_retries(self):
        for case in cases("client-rules.json")["pauses"]:
            with self.subTest(case):
                pauses = []
                for attempts in range(1, len(case["pauses_ms"]) + 1):
                    error = failure(case["failure"])
                    error.attempts = attempts
                    pause = pause_before_retry(error, case["repeatable"], Retry(), lambda: 1.0)
                    pauses.append(None if pause is None else pause * 1000)
                self.assertEqual(pauses, case["pauses_ms"])

    def test_signatures_of_webhooks(self):
        for case in cases("webhook-signatures.json"):
            with self.subTest(case["name"]):
                given = (case["body"], case["headers"], case["secrets"])
                if case["valid"]:
                    verified = verify_webhook(*given, now=case["now"])
                    delivery = {name.lower(): value for name, value in case["headers"].items()}["webhook-id"]
                    self.assertEqual((verified.id, verified.notice), (delivery, json.loads(case["body"])))
                else:
                    with self.assertRaises(WebhookVerificationError):
                        verify_webhook(*given, now=case["now"])
