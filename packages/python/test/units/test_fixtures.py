"""Cases that the clients of every language read (D-226); in TypeScript: packages/sdk/test/fixtures.test.ts."""

import json
import pathlib
import unittest

from convoke_sdk import RunText, WebhookVerificationError, verify_webhook
from convoke_sdk._core.sse import MessageParser

FIXTURES = pathlib.Path(__file__).parents[3] / "contract" / "fixtures"


def cases(file):
    return json.loads((FIXTURES / file).read_text(encoding="utf-8"))


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

    def test_signatures_of_webhooks(self):
        for case in cases("webhook-signatures.json"):
            with self.subTest(case["name"]):
                given = (case["body"], case["headers"], case["secrets"])
                if case["valid"]:
                    notice = verify_webhook(*given, now=case["now"]).notice
                    self.assertEqual(notice, json.loads(case["body"]))
                else:
                    with self.assertRaises(WebhookVerificationError):
                        verify_webhook(*given, now=case["now"])
