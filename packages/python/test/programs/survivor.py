"""Runs an agent over whatever connection it is given, and prints its session, its run and every event it got."""

import asyncio
import json
import os

from convoke_sdk import AsyncConvoke, Retry


async def main():
    async with AsyncConvoke(
        base_url=os.environ["BASE_URL"],
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        retry=Retry(attempts=12, base=0.001, max=0.005),
    ) as convoke:
        session = await convoke.sessions.create(os.environ["AGENT"])
        run = await session.run(os.environ["PROMPT"])
        print(json.dumps([session.id, run.id]), flush=True)
        async for event in run.follow():
            print(json.dumps(event), flush=True)
        print(json.dumps(await run.wait()), flush=True)


asyncio.run(main())
