import type { Template } from '../template.ts';

/** An agent of one function in Python. */
export const python: Template = { files };

function files(name: string): Readonly<Record<string, string>> {
  return {
    'agent.yaml': `schema: 1
name: ${name}
description: Asks for permission, and writes a note
framework: code
session_files: true
`,
    'agent.py': `import os

from convoke_agent import agent


# Every leg of a run calls this function from its first line. What has an effect belongs in a step.
@agent
def main(ctx):
    ctx.say(f"You said: {ctx.prompt}\\n")
    words = ctx.step("count", lambda: len(ctx.prompt.split()), repeatable=True)

    def write(input):
        os.makedirs("outputs", exist_ok=True)
        with open("outputs/note.txt", "w") as note:
            note.write(f"{input['text']} ({input['words']} words)\\n")

    if not ctx.approve("write_note", {"text": ctx.prompt, "words": words}, write).allowed:
        return "Then I write nothing.\\n"
    ctx.state["notes"] = ctx.state.get("notes", 0) + 1
    return f"It is in note.txt, note {ctx.state['notes']} of this session.\\n"
`,
    'test_agent.py': `import os
import tempfile
import unittest

from agent import main
from convoke_agent.testing import every_kill, rehearse


class Notes(unittest.TestCase):
    def setUp(self):
        os.chdir(tempfile.mkdtemp())

    def test_it_writes_nothing_without_permission(self):
        result = rehearse(main, prompt="Hello", answer=lambda asked: False)
        self.assertIn("write nothing", result.text)

    def test_it_does_nothing_twice_whenever_its_process_is_lost(self):
        result = every_kill(lambda: main, prompt="Hello there")
        self.assertEqual([call.name for call in result.calls], ["count", "write_note"])
`,
    '.gitignore': '.venv/\n__pycache__/\n',
  };
}
