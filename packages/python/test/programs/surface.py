"""Uses every part of the client against a real server. A wrong result ends it with an error."""

import asyncio
import hashlib
import os
import pathlib
import tempfile

import convoke_sdk
from convoke_sdk import AsyncConvoke, AsyncConvokeAdmin, AsyncOpenSession, Retry


def options(**more):
    return {"base_url": os.environ["BASE_URL"], "retry": Retry(base=0.005, max=0.1), **more}


CLIENT = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
ORGANIZATION_ID = os.environ["ORGANIZATION_ID"]
TENANT_ID = os.environ["TENANT_ID"]
#: Tells this run of the program from others on the same server.
MARK = os.urandom(8).hex()


def same(got, expected):
    assert got == expected, f"got {got!r} instead of {expected!r}"


async def main():
    async with AsyncConvoke(**options(**CLIENT)) as convoke:
        await account(convoke)
        await runs(convoke)
        await page(convoke)
        await interactions(convoke)
        await files(convoke)
        await tenant(convoke)
        await accounts(convoke)
        await schedules_and_webhooks(convoke)
        await refusals(convoke)
    token = os.environ["OWNER_TOKEN"]
    async with AsyncConvokeAdmin(**options(token=lambda rejected: token, organization_id=ORGANIZATION_ID)) as admin:
        await management(admin)
    print("done")


async def account(convoke):
    same((await convoke.whoami())["tenant_id"], TENANT_ID)
    same([one["tenant"]["tenant_id"] async for one in convoke.workspaces()], [TENANT_ID])
    same((await convoke.service.health())["status"], "ok")
    assert "<html" in await convoke.service.docs()
    assert "runs" in await convoke.overview()
    names = [agent["name"] async for agent in convoke.agents.list(limit=2)]
    assert "echo" in names and names == sorted(names)
    same((await convoke.agents.get("echo"))["name"], "echo")
    other = convoke.workspace(tenant_id=TENANT_ID, organization_id=ORGANIZATION_ID)
    same((await other.whoami())["tenant_id"], TENANT_ID)


async def page(convoke):
    session = await convoke.sessions.create("echo")
    neighbour = await convoke.sessions.create("echo")
    asked = []

    async def token(rejected):
        asked.append(rejected)
        issued = await session.create_token(end_user="user-7", expires_in_seconds=60)
        # One that the service rejects, as it rejects one that has expired.
        return issued["token"] if len(asked) > 1 else "expired"

    async with AsyncOpenSession(**options(session_id=session.id, token=token)) as opened:
        same(await (await opened.run("Hello")).text(), "Hello (run 1)")
        same((await opened.read())["id"], session.id)
        same(asked, [None, "expired"])
        try:
            await opened.stop()
            raise AssertionError("a page stopped its session")
        except convoke_sdk.PermissionDeniedError as error:
            same(error.code, "insufficient_scope")
    fixed = (await session.create_token(scopes=["runs:read", "sessions:read"]))["token"]
    async with AsyncOpenSession(**options(session_id=neighbour.id, token=fixed)) as elsewhere:
        try:
            await elsewhere.read()
            raise AssertionError("a page read another session")
        except convoke_sdk.NotFoundError as error:
            same(error.code, "not_found")


async def runs(convoke):
    session = await convoke.sessions.create("echo", title="First", labels={"customer": "acme"})
    same((session.record["title"], session.record["labels"]), ("First", {"customer": "acme"}))
    run = await session.run("Hello", labels={"ticket": "1"}, idempotency_key=MARK)
    same((await session.run("Hello", labels={"ticket": "1"}, idempotency_key=MARK)).id, run.id)
    same(await run.text(), "Hello (run 1)")
    same((await run.wait())["output_text"], "Hello (run 1)")
    followed = [event async for event in run]
    same(followed, [event async for event in run.events(limit=2)])
    assert convoke_sdk.is_terminal_event(followed[-1])
    after = followed[2]["id"]
    same([event async for event in session.runs.at(run.id).follow(after=after)], followed[3:])
    same((await run.update(labels={"ticket": None, "x": "y"}))["labels"], {"customer": "acme", "x": "y"})
    same((await session.update(title=None))["labels"], {"customer": "acme"})
    assert "title" not in await session.read()
    same([one.id async for one in session.runs.list()], [run.id])
    same((await session.runs.get(run.id)).record["status"], "completed")
    invoked = await convoke.agents.invoke("echo", {"prompt": "Once"})
    same(await invoked.text(), "Once (run 1)")
    same((await session.stop(reason="Enough"))["status"], "stopped")
    same((await session.resume())["status"], "idle")
    failing = await (await convoke.sessions.create("fail")).run("fall")
    try:
        await failing.text()
    except convoke_sdk.RunError as error:
        same((error.code, error.run["status"]), ("agent_error", "failed"))
    else:
        raise AssertionError("a failed run has no text")


async def interactions(convoke):
    asking = await (await convoke.sessions.create("asker")).run("Hello")
    same(await asking.text(on_question=lambda question: question["options"][1]["label"]), "blue")
    session = await convoke.sessions.create("approver")
    run = await session.run("Hello")

    async def decide(request):
        same(request["tool_name"], "write_file")
        return {"decision": "allow"}

    same(await run.text(on_permission=decide), "done")
    # The events that ask are behind the cursor, and the question is still pending.
    session = await convoke.sessions.create("asker")
    run = await session.run("Hello")
    last = None
    async for event in run.follow(on_question=lambda _: None):
        last = event["id"]
        if event["type"] == "user_question":
            break
    [pending] = [one async for one in session.interactions.pending()]
    same([one["interaction_key"] async for one in convoke.interactions.list()], [pending["interaction_key"]])
    rest = [event async for event in run.follow(after=last, on_question=lambda _: "red")]
    same(rest[-1]["type"], "run_completed")
    try:
        await session.interactions.answer(pending["interaction_key"], {"answer": "blue"})
    except convoke_sdk.ConflictError:
        pass
    else:
        raise AssertionError("an answered question takes no other answer")
    await raising(await (await convoke.sessions.create("asker")).run("Hello"))


async def raising(run):
    def fail(_):
        raise LookupError("no answer")

    try:
        await run.wait(on_question=fail)
    except LookupError:
        await run.cancel(reason="Enough")
    else:
        raise AssertionError("what a handler raises is raised by the loop")


async def files(convoke):
    session = await convoke.sessions.create("patient")
    data = os.urandom(300_000)
    told = []
    uploaded = await session.files.upload(data, name="data.bin", on_progress=lambda *one: told.append(one))
    same(uploaded["sha256"], hashlib.sha256(data).hexdigest())
    same((told[0], told[-1]), ((0, 300_000), (300_000, 300_000)))
    download = await session.files.download(uploaded["id"])
    same(await download.read(), data)
    async with await session.files.download(uploaded["id"], start=10, end=19) as part:
        same(b"".join([piece async for piece in part]), data[10:20])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "note.txt")
        path.write_bytes(data)
        same((await session.files.upload(path))["name"], "note.txt")
        with path.open("rb") as file:
            file.seek(100_000)
            same((await session.files.upload(file))["size_bytes"], 200_000)
    pieces = iter([data[:10], b"", data[10:]])
    streamed = await session.files.upload(pieces, name="pieces")
    same(streamed["size_bytes"], 300_000)
    prepared = await session.files.prepare(name="later")
    same((await session.files.put(prepared["id"], b""))["size_bytes"], 0)
    same(len([one async for one in session.files.list(limit=2)]), 5)
    await session.files.delete(prepared["id"])
    try:
        await session.files.upload(b"x", name="wrong", sha256="0" * 64)
    except convoke_sdk.ConvokeError as error:
        same(error.status in (400, 409, 422), True)
    else:
        raise AssertionError("content with another digest is refused")
    same(len([one async for one in session.files.list()]), 4)


async def tenant(convoke):
    labelled = await convoke.sessions.create("echo", labels={"job": MARK})
    run = await labelled.run("Hello", labels={"job": MARK})
    await run.wait()
    same([one["id"] async for one in convoke.runs.list(label=[f"job:{MARK}"])], [run.id])
    same((await convoke.runs.get(run.id)).record["status"], "completed")
    cursors = []
    async for notice in convoke.events(types=["run_completed"], on_cursor=cursors.append):
        if notice["run_id"] == run.id:
            break
    listed = [one["id"] async for one in convoke.feed.list(types=["run_completed"])]
    same(cursors, listed[: len(cursors)])
    async for later in convoke.feed.follow(after=listed[0]):
        assert later["id"] > listed[0]
        break
    async for _ in convoke.usage.list(group_by="agent"):
        pass


async def accounts(convoke):
    user = f"user-{MARK}"
    session = await convoke.sessions.create("accountant", end_user=user)
    same(session.record["end_user"], user)

    async def statuses(of):
        return [(one["service"], one["owner"], one["status"]) for one in await of.connections.list()]

    same(await statuses(session), [("mail", "end_user", "missing"), ("crm", "tenant", "missing")])
    try:
        await session.run("Send it.")
        raise AssertionError("a run needs its account")
    except convoke_sdk.ConflictError as error:
        same(error.code, "connection_missing")
    secret = f"secret-{MARK}"
    stored = await convoke.connections.put("mail", end_user=user, auth={"type": "bearer", "token": secret})
    same((stored["status"], stored["version"], stored["auth"]), ("connected", 1, {"type": "bearer"}))
    header = {"type": "header", "name": "X-Key", "value": secret}
    replaced = await convoke.connections.put("mail", end_user=user, auth=header)
    same((replaced["id"], replaced["version"]), (stored["id"], 2))
    same(replaced["auth"], {"type": "header", "name": "X-Key"})
    run = await session.run("Send it.")
    same(await run.text(), "sent")
    used = [event["data"] async for event in run if event["type"] == "connection_used"]
    same(used, [{"service": "mail", "connection_id": stored["id"], "owner": "end_user"}])
    same(await (await convoke.agents.invoke("accountant", "Send it.", end_user=user)).text(), "sent")
    listed = [one async for one in convoke.connections.list(service="mail", end_user=user, limit=1)]
    same([one["id"] for one in listed], [stored["id"]])
    assert "last_used_at" in listed[0] and secret not in repr(listed)
    await own_account(session, stored["id"])
    same(await statuses(session), [("mail", "end_user", "missing"), ("crm", "tenant", "missing")])
    try:
        await convoke.connections.delete("mail", end_user=user)
        raise AssertionError("a connection was deleted twice")
    except convoke_sdk.NotFoundError as error:
        same(error.code, "not_found")
    await convoke.connections.put("crm", auth={"type": "bearer", "token": secret})
    same((await statuses(session))[1], ("crm", "tenant", "connected"))
    await convoke.connections.delete("crm")


async def own_account(session, connection_id):
    """A page of the product replaces and deletes the account of its own user."""
    scopes = ["sessions:read", "connections:read", "connections:write"]
    token = (await session.create_token(scopes=scopes))["token"]
    async with AsyncOpenSession(**options(session_id=session.id, token=token)) as opened:
        same([one["status"] for one in await opened.connections.list()], ["connected", "missing"])
        own = await opened.connections.put("mail", auth={"type": "bearer", "token": f"own-{MARK}"})
        same((own["id"], own["version"]), (connection_id, 3))
        begun = await opened.connections.begin("mail", return_url="https://product.test/connected")
        assert begun["connect_url"].startswith("https://service.example/authorize?")
        try:
            await opened.connections.put("crm", auth={"type": "bearer", "token": f"own-{MARK}"})
            raise AssertionError("a page wrote an account of the tenant")
        except convoke_sdk.NotFoundError as error:
            same(error.code, "not_found")
        await opened.connections.delete("mail")


async def schedules_and_webhooks(convoke):
    schedule = await convoke.schedules.create(
        name="Morning", agent_name="echo", cron="0 9 * * 1-5", time_zone="Europe/Berlin", input="Report."
    )
    same(schedule["input"], {"prompt": "Report."})
    same(len(await convoke.schedules.preview(schedule["id"], count=3)), 3)
    same((await convoke.schedules.pause(schedule["id"]))["status"], "paused")
    await (await convoke.schedules.run(schedule["id"])).wait()
    changed = await convoke.schedules.get(schedule["id"])
    renamed = await convoke.schedules.update(schedule["id"], version=changed["version"], name="Evening")
    same(renamed["name"], "Evening")
    same([one async for one in convoke.schedules.fires(schedule["id"])], [])
    await convoke.schedules.delete(schedule["id"])
    issued = await convoke.webhooks.create(url="http://127.0.0.1:9999/", types=["run_completed"])
    assert issued["secret"].startswith("whsec_")
    webhook_id = issued["webhook"]["id"]
    delivery = await convoke.webhooks.test(webhook_id)
    assert delivery["id"] in [one["id"] async for one in convoke.webhooks.deliveries(webhook_id)]
    await convoke.webhooks.delete(webhook_id)
    assert webhook_id not in [one["id"] for one in (await convoke.webhooks.list().page()).items]


async def refusals(convoke):
    wrong = {"client_id": CLIENT["client_id"], "client_secret": "cvk_wrong"}
    async with AsyncConvoke(**options(**wrong)) as stranger:
        for kind, code, call in (
            (convoke_sdk.NotFoundError, "agent_not_found", lambda: convoke.sessions.create("nothing")),
            (convoke_sdk.NotFoundError, "not_found", lambda: convoke.sessions.get("sess_none")),
            (convoke_sdk.InvalidRequestError, "invalid_query", lambda: convoke.sessions.list(limit=1000).page()),
            (convoke_sdk.AuthenticationError, "invalid_client", stranger.whoami),
        ):
            try:
                await call()
            except kind as error:
                same(error.code, code)
                assert error.request_id and error.status
            else:
                raise AssertionError(f"{code} is not raised")


async def management(admin):
    same((await admin.organization())["id"], ORGANIZATION_ID)
    issued = await admin.clients.create(
        name="Nightly", profile="invoke", tenant_ids=[TENANT_ID], idempotency_key=f"Grüße {MARK}"
    )
    credentials = {"client_id": issued["client_id"], "client_secret": issued["client_secret"]}
    async with AsyncConvoke(**options(**credentials, tenant_id=TENANT_ID)) as convoke:
        same((await convoke.whoami())["tenant_id"], TENANT_ID)
    client = issued["client"]
    changed = await admin.clients.update(client["id"], version=client["version"], name="Daily")
    same(changed["name"], "Daily")
    added = await admin.credentials.add(client["id"], label="second")
    await admin.credentials.revoke(client["id"], added["credential"]["id"])
    await admin.clients.delete(client["id"])
    budget = await admin.budgets.set(scope={"kind": "tenant", "id": TENANT_ID}, period="day", max_tokens=2_000_000)
    same((await admin.budgets.get(budget["id"]))["max_tokens"], 2_000_000)
    await admin.budgets.delete(budget["id"])
    seen = await admin.rules.get()
    rule = {"name": "a", "tools": ["pay"], "effect": "ask", "when": [{"path": "/a", "in": [1, None]}]}
    rules = await admin.rules.set(version=seen["version"], rules=[rule])
    same((await admin.rules.get())["rules"], rules["rules"])
    tried = await admin.rules.try_(rules=[rule])
    same([one["name"] for one in tried["rules"]], ["a"])
    await admin.rules.set(version=rules["version"], rules=[])
    assert [one async for one in admin.members.list()]
    assert [one async for one in admin.audit.list(limit=5)]
    same([one["id"] async for one in admin.tenants.list()], [TENANT_ID])
    async for _ in admin.usage.list(group_by="tenant"):
        pass


asyncio.run(main())
