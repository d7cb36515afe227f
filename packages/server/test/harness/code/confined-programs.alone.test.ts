import { readdirSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { Leg } from '../../../src/ports/harness.ts';
import { agentOf, temporaryFolder } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { type OpenStdio, type PlayMore, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
beforeAll(async () => {
  requireSandbox();
  code = await openCode();
});
afterAll(() => code.close());

async function play(
  { entry, text }: { readonly entry: string; readonly text: string },
  settings: JsonObject,
  more: PlayMore,
) {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  await writeFile(join(folder, entry), text);
  const given = { entry, code: { keep_seconds: 0 }, ...settings };
  return playProgram(code, agentOf({ framework: 'code', folder, settings: given }), more);
}

/** Call the address in the prompt without end, once they are cancelled. */
const cleaners = [
  {
    entry: 'agent.ts',
    text: `
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  ctx.say('working');
  await new Promise((resolve) => {
    ctx.signal.addEventListener('abort', resolve);
    setInterval(() => {}, 1000);
  });
  for (;;) await fetch(ctx.prompt).then((reply) => reply.text(), (error) => console.error(error.cause));
});
`,
  },
  {
    entry: 'agent.py',
    text: `
import sys, urllib.request
from convoke_agent import agent

@agent
def main(ctx):
    address = ctx.prompt
    ctx.say("working")
    ctx.signal.wait()
    while True:
        try:
            urllib.request.urlopen(address, timeout=60).read()
        except OSError as error:
            print(error, file=sys.stderr)
`,
  },
];

test.each(cleaners)(
  'a cancelled program ($entry) keeps its network until its grace period is over (D-474)',
  async (program) => {
    let calls = 0;
    const server = createServer((_request, response) => {
      calls += 1;
      response.end('done');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    let leg: Leg | undefined;
    const played = play(
      program,
      { sandbox: { network: [`127.0.0.1:${port}`] } },
      {
        prompt: `http://127.0.0.1:${port}/clean-up`,
        onStart: (started) => {
          leg = started;
        },
        onEvent: ({ type }) => {
          if (type === 'message_delta') leg?.cancel().catch(() => undefined);
        },
      },
    );
    await eventually(() => calls > 2);
    expect(proxies()).toHaveLength(1);
    // What the server does when the grace period is over.
    await leg?.kill();
    expect(proxies()).toEqual([]);
    expect((await played).end).toEqual({ type: 'end', outcome: 'cancelled' });
  },
);

function proxies(): readonly string[] {
  return readdirSync(code.sandbox.folder).filter((name) => name.startsWith('net-'));
}

describe('a secret in the name of a step', () => {
  const variable = 'CONFINED_PROGRAMS_SECRET';
  const secret = 'tulip-4711-secret';
  beforeAll(() => {
    process.env[variable] = secret;
  });
  afterAll(() => {
    delete process.env[variable];
  });

  test.each([
    {
      entry: 'agent.ts',
      text: `
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  await ctx.step('fetch https://x/?key=' + process.env.API_KEY, () => 1);
});
`,
    },
    {
      entry: 'agent.py',
      text: `
import os
from convoke_agent import agent

@agent
def main(ctx):
    ctx.step("fetch https://x/?key=" + os.environ["API_KEY"], lambda: 1)
`,
    },
  ])('ends the run of $entry with an error that names the step without it', async (program) => {
    const env = { API_KEY: `\${env:${variable}}` };
    const { end, events } = await play(program, { env }, {});
    expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(end).toHaveProperty('message', expect.stringContaining('fetch https://x/?key=[secret]'));
    expect(end).toHaveProperty('message', expect.stringContaining('Choose a name without it'));
    expect(JSON.stringify(events)).not.toContain(secret);
  });
});
