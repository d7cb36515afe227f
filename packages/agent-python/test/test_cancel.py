"""A run that is cancelled while it works or waits."""

import asyncio
import threading
import unittest

from convoke_agent import LegOver, RunCancelled, agent
from convoke_agent.context import AsyncContext, Context
from convoke_agent.leg import Leg
from convoke_agent.rehearsal import RehearsedRun
from convoke_agent.tasks import Tasks
from convoke_agent.threads import Threads


class Cancel(unittest.TestCase):
    """A server that cancels the run when the first step has begun."""

    def cancelled(self, program):
        host = Tasks() if program.is_async else Threads()
        run, sent = RehearsedRun(prompt="go"), []

        def send(message):
            sent.append(message)
            if message["type"] == "call_begin":
                begun = {"type": "call_begun", "call_id": message["call_id"], "idempotency_key": "key"}
                host.later(lambda: leg.receive(begun))

        leg = Leg(run.start(), send, host)
        ctx = (AsyncContext if program.is_async else Context)(leg, host)
        ctx.cancel = lambda: threading.Thread(target=host.tell, args=(lambda: leg.receive({"type": "cancel"}),)).start()
        host.run(leg.perform(lambda: program.body(ctx)))
        if program.is_async:
            host.close()
        return sent[-1], leg

    def test_a_def_learns_of_it_at_its_next_call_and_may_clean_up(self):
        seen = []

        @agent
        def program(ctx):
            ctx.signal.on_abort(lambda: seen.append("listener"))
            try:
                ctx.step("work", lambda signal: (ctx.cancel(), signal.wait(30)) and None)
                while True:
                    ctx.say("x")
            except Exception:
                seen.append("swallowed")
            except RunCancelled:
                seen.append("cleaned up")
                raise

        end, _ = self.cancelled(program)
        self.assertEqual((end["outcome"], sorted(seen)), ("cancelled", ["cleaned up", "listener"]))

    def test_an_async_def_is_cancelled(self):
        seen = []

        @agent
        async def program(ctx):
            try:
                ctx.cancel()
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cleaned up")
                raise

        end, _ = self.cancelled(program)
        self.assertEqual((end["outcome"], seen), ("cancelled", ["cleaned up"]))

    def test_what_waits_for_a_person_is_woken(self):
        @agent
        def program(ctx):
            def cancel():
                ctx.step("work", lambda signal: (ctx.cancel(), signal.wait(30)) and None)

            ctx.parallel(lambda: ctx.ask("Why?"), cancel)

        end, _ = self.cancelled(program)
        self.assertEqual(end["outcome"], "cancelled")

    def test_a_leg_that_is_over_says_no_more(self):
        @agent
        def program(ctx):
            return "done"

        _, leg = self.cancelled(program)
        with self.assertRaises(LegOver):
            leg.guard()


if __name__ == "__main__":
    unittest.main()
