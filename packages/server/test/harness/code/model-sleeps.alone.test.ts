// The model of a framework in Python sleeps with a tool, on a server and in its sandbox (D-929).
import { beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { begin, ended, logOf } from '../../support/api-steps.ts';
import { type TestServer, startServer } from '../../support/server.ts';

const asked = '[["40d", "too long"], ["1s", "the ferry > > 7"]]';

/** A framework that carries out what its model has said, one call after the other. */
const programs = {
  def: `from convoke_agent import agent


@agent
def main(ctx):
    sleep = ctx.sleep_tool()
    for duration, reason in ctx.step("model", lambda: ${asked}):
        ctx.say(f"{sleep(duration=duration, reason=reason)} ")
`,
  async: `from convoke_agent import agent


@agent
async def main(ctx):
    sleep = ctx.sleep_tool()
    for duration, reason in await ctx.step("model", lambda: ${asked}):
        ctx.say(f"{await sleep(duration=duration, reason=reason)} ")
`,
};

let server: TestServer;
beforeAll(async () => {
  requireSandbox();
  const files = Object.entries(programs).flatMap(([name, text]) => [
    [`${name}/agent.yaml`, `schema: 1\nname: ${name}\nframework: code\n`],
    [`${name}/agent.py`, text],
  ]);
  server = await startServer({ agents: {}, agentFiles: Object.fromEntries(files) });
});

test.each(Object.keys(programs))('of an agent that is `%s`', async (name) => {
  const { run } = await begin(server, name, 'go');
  const refused = '"duration" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.';
  expect(await ended(server, run)).toMatchObject({
    status: 'completed',
    output_text: `${refused} The time has passed. `,
  });
  const log = await logOf(server, run);
  const waits = log.filter(({ type }) => type === 'wait_started' || type === 'wait_ended');
  const wait = { kind: 'timer', name: 'the ferry - - 7' };
  expect(waits).toMatchObject([{ data: wait }, { data: { ...wait, outcome: 'fired' } }]);
});
