"""Prints what each program of a zoo does, undisturbed and at every seat: transcript.py zoo|async_zoo, one JSON line each."""

import importlib
import json
import sys

from convoke_agent.testing import every_kill, rehearse


def show(name, seat, rehearsal):
    line = {
        "name": name,
        "seat": seat,
        "legs": rehearsal.messages,
        "text": rehearsal.text,
        "outcome": rehearsal.outcome,
        "state": rehearsal.state,
        "tokens": rehearsal.tokens,
        "calls": [call.name for call in rehearsal.calls],
        "asked": [asked.question or asked.tool for asked in rehearsal.asked],
        "doubt": rehearsal.has_doubt,
    }
    print(json.dumps(line))


def transcribe(name, program, options, check):
    def observe(kind, message, rehearsal):
        show(name, f"{kind} {message}", rehearsal)
        if check is not None and not rehearsal.has_doubt:
            check(rehearsal.text)

    show(name, "undisturbed", rehearse(program, **{key: options[key] for key in options if key != "comparable"}))
    every_kill(lambda: program, observe=observe, **options)


for name, (program, options, check) in importlib.import_module(sys.argv[1]).zoo.items():
    transcribe(name, program, options, check)
