# Starts an agent. Every version of Python can read this file, so that an old one can report that it is too old.
import json
import os
import sys


def write(message):
    os.write(3, (json.dumps(message) + "\n").encode("utf-8"))


def main(arguments):
    if sys.version_info < (3, 9):
        version = ".".join(str(part) for part in sys.version_info[:3])
        problem = "The sandbox has Python " + version + ", but the kit needs 3.9 or newer."
        end = {"type": "end", "outcome": "error", "code": "agent_error", "message": problem}
        if "--serve" in arguments:
            # A process that is kept sends `ready` first, and then waits for its leg.
            write({"type": "ready"})
            sys.stdin.readline()
        write({"type": "checked", "problem": problem} if "--check" in arguments else end)
        return
    # Python is isolated from the environment and does not find the kit. It is imported from here, not from the agent's
    # folder.
    kit = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, kit)
    from convoke_agent.launch import launch

    sys.path.remove(kit)
    launch(arguments)


main(sys.argv[1:])
