"""Performs story.json with the client for Python and prints what each step gave, one line of JSON a step.

Its blocking twin is made from it as the blocking client is made from the asynchronous one.
"""

import asyncio
import hashlib
import json
import os
import sys

from convoke_sdk import AsyncConvoke, ConvokeError, Retry, RunText

CLIENT = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
RETRY = Retry(attempts=40, base=0.001, max=0.02)
STORY = os.environ["STORY"]


def connect(address, **more):
    return AsyncConvoke(**{"base_url": os.environ[address], "retry": RETRY, **CLIENT, **more})


async def every(listing):
    return [item async for item in listing]


def digest(data):
    return hashlib.sha256(data).hexdigest()


def kill_server():
    """Asks the test to kill the server, and waits until it is back."""
    print(json.dumps({"please": "kill"}), flush=True)
    sys.stdin.readline()


class Story:
    def __init__(self, over_faults, direct):
        self.convoke = over_faults
        self.direct = direct
        #: What earlier steps made, by the name that they gave it.
        self.known = {}

    def session_at(self, name):
        return self.convoke.sessions.at(self.known[name])

    def run_at(self, name):
        session, run = self.known[name]
        return self.convoke.sessions.at(session).runs.at(run)

    def is_same(self, name, run):
        before = self.known.get(name, (None, None))
        self.known[name] = (run.session_id, run.id)
        return before[1] == run.id

    async def whoami(self, made):
        return {"profile": (await self.convoke.whoami())["profile"]}

    async def wrong_secret(self, made):
        async with connect("DIRECT_URL", client_secret="cvk_wrong") as stranger:
            await stranger.whoami()

    async def workspaces(self, made):
        return len(await every(self.convoke.workspaces()))

    async def agents(self, _, limit, among):
        names = [agent["name"] for agent in await every(self.convoke.agents.list(limit=limit))]
        return [name for name in names if name in among]

    async def agent(self, _, name):
        return (await self.convoke.agents.get(name))["name"]

    async def open(self, made, agent, title=None, labels=None):
        given = {key: value for key, value in (("title", title), ("labels", labels)) if value is not None}
        session = await self.convoke.sessions.create(agent, **given)
        self.known[made] = session.id
        record = session.record
        return {"status": record["status"], "title": record.get("title"), "labels": record["labels"]}

    async def retitle(self, _, session, title):
        record = await self.session_at(session).update(title=title)
        return {"title": record.get("title"), "labels": record["labels"]}

    async def stop(self, _, session, **more):
        return (await self.session_at(session).stop(**more))["status"]

    async def resume(self, _, session):
        return (await self.session_at(session).resume())["status"]

    async def start(self, made, session, prompt, key=None, labels=None):
        run = await self.session_at(session).run(prompt, idempotency_key=key, labels=labels)
        return {"is_same": self.is_same(made, run)}

    async def invoke(self, made, agent, prompt, key):
        run = await self.convoke.agents.invoke(agent, prompt, idempotency_key=key)
        return {"text": await run.text(), "is_same": self.is_same(made, run)}

    async def text(self, _, run, answer=None, decision=None, kill=False):
        def choose(question):
            if kill:
                kill_server()
            return answer

        return await self.run_at(run).text(on_question=choose, on_permission=lambda request: decision)

    async def output(self, _, run):
        return await self.run_at(run).output()

    async def wait(self, _, run):
        record = await self.run_at(run).wait()
        return {key: record[key] for key in ("status", "output_text", "labels")}

    async def follow(self, _, run, after=0, until=None, kill_at=None):
        handle = self.run_at(run)
        recorded = self.direct.sessions.at(handle.session_id).runs.at(handle.id)
        before = await every(recorded.events())
        position = before[after if after == -1 else after - 1]["id"] if after else None
        seen, joined = [], RunText()
        async for event in handle.follow(after=position):
            seen.append(event)
            joined.take(event)
            if event["type"] == until:
                break
            if kill_at is not None and event["data"].get("text", "").strip() == kill_at:
                kill_server()
        output = (await handle.read()).get("output_text", "")
        kept = [event for event in await every(recorded.events()) if not after or event["id"] > position]
        return {
            "types": list(dict.fromkeys(event["type"] for event in seen)),
            "words": len(joined.text.split()),
            "is_answer": output.endswith(joined.text),
            "is_whole": seen == kept,
        }

    async def rate(self, _, run, key, **said):
        given = await self.run_at(run).feedback.put(key, **said)
        author = given["author"]
        named = f"{author['kind']} {author['id']}" if author["kind"] == "end_user" else author["kind"]
        return {"author": named, "is_new": given["created_at"] == given["updated_at"]}

    async def ratings(self, _, run):
        return [f"{one['key']} {one['score']}" for one in await self.run_at(run).feedback.list()]

    async def rated_down(self, _, key):
        listed = await every(self.convoke.runs.list(feedback=key, score_max=0))
        return [run["preview"] for run in listed]

    async def of_version(self, _, run):
        digest = (await self.run_at(run).read())["agent_digest"]
        return [run["preview"] for run in await every(self.convoke.runs.list(agent_digest=digest[:8]))]

    async def unrate(self, made, run, key, end_user):
        await self.run_at(run).feedback.delete(key, end_user=end_user)
        return await self.ratings(made, run)

    async def label(self, _, run, labels):
        return (await self.run_at(run).update(labels=labels))["labels"]

    async def runs(self, _, session, limit):
        listed = await every(self.session_at(session).runs.list(limit=limit))
        return [run.record["input"]["prompt"] for run in reversed(listed)]

    async def runs_with(self, _, label):
        return [run["preview"] for run in await every(self.convoke.runs.list(label=[label]))]

    async def cancel(self, _, run):
        await self.run_at(run).cancel(reason="Enough")
        return (await self.run_at(run).wait())["status"]

    async def pending(self, made, session):
        interactions = await every(self.session_at(session).interactions.pending())
        self.known[made] = interactions[0]["interaction_key"]
        return [{"kind": one["kind"], "status": one["status"]} for one in interactions]

    async def answer(self, _, session, question, answer):
        interactions = self.session_at(session).interactions
        return (await interactions.answer(self.known[question], answer))["status"]

    async def remembered(self, _, session):
        return [f"{one['tool_name']} {one['remembered']}" for one in await self._remembered(session)]

    async def forget(self, _, session):
        for one in await self._remembered(session):
            await self.session_at(session).interactions.forget(one["interaction_key"])
        return len(await self._remembered(session))

    async def _remembered(self, session):
        interactions = self.session_at(session).interactions
        return await every(interactions.list(status="answered", remembered=True))

    async def upload(self, made, session, line, times, **more):
        content = (line * times).encode()
        file = await self.session_at(session).files.upload(content, **more)
        self.known[made], self.known[f"bytes of {made}"] = file["id"], content
        is_intact = file["sha256"] == digest(content)
        return {"name": file["name"], "size_bytes": file["size_bytes"], "is_intact": is_intact}

    async def download(self, _, session, file, start=0, end=4999):
        opened = await self.session_at(session).files.download(self.known[file], start=start, end=end)
        data = await opened.read()
        is_intact = data == self.known[f"bytes of {file}"][start : end + 1]
        return {"bytes": len(data), "is_intact": is_intact}

    async def files(self, _, session):
        return [file["name"] for file in await every(self.session_at(session).files.list())]

    async def delete_file(self, made, session, file):
        await self.session_at(session).files.delete(self.known[file])
        return await self.files(made, session)

    async def schedule(self, made, agent, **more):
        schedule = await self.convoke.schedules.create(**{"agent_name": agent, **more})
        self.known[made] = schedule["id"]
        return {"status": schedule["status"], "input": schedule["input"]}

    async def preview(self, _, schedule, count):
        return len(await self.convoke.schedules.preview(self.known[schedule], count=count))

    async def pause(self, _, schedule):
        return (await self.convoke.schedules.pause(self.known[schedule]))["status"]

    async def unschedule(self, _, schedule):
        await self.convoke.schedules.delete(self.known[schedule])
        return [one["name"] for one in await every(self.convoke.schedules.list())]

    async def feed(self, _, types, count):
        seen = []
        async for notice in self.convoke.events(types=types):
            seen.append(notice["type"])
            if len(seen) == count:
                break
        return seen

    async def usage(self, _, agents):
        """Runs are counted soon after their end."""
        groups = []
        while len(groups) < agents:
            groups = [one["group"] for one in await every(self.convoke.usage.list(group_by="agent"))]
        return sorted(groups)


async def main():
    with open(STORY, encoding="utf-8") as file:
        steps = json.load(file)
    async with connect("BASE_URL") as over_faults, connect("DIRECT_URL") as direct:
        story = Story(over_faults, direct)
        for step in steps:
            story.convoke = direct if step.get("direct") else over_faults
            try:
                gives = await getattr(story, step["call"])(step.get("as"), **step.get("with", {}))
            except ConvokeError as error:
                gives = {"error": type(error).__name__, "code": error.code, "status": error.status}
            print(json.dumps({"step": step["step"], "gives": gives}), flush=True)


asyncio.run(main())
