import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { type OpenStdio, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
beforeAll(async () => {
  requireSandbox();
  code = await openCode();
});
afterAll(() => code.close());

test.each([
  [
    'agent.ts',
    `import { agent } from '@convoke/agent';
export default agent(async (ctx) => JSON.stringify(ctx.state));
`,
  ],
  [
    'agent.py',
    `import json
from convoke_agent import agent

@agent
def main(ctx):
    return json.dumps(ctx.state)
`,
  ],
])(
  '%s ignores the state that another framework has left, and the log says so once (D-177)',
  async (entry, text) => {
    const folder = join(await temporaryFolder(), 'clerk');
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'agent.yaml'), 'framework: code\n');
    await writeFile(join(folder, entry), text);
    const harnesses = new Map([['code', code.harness]]);
    const read = await readAgentFolder({ folder, name: 'clerk', harnesses });
    if (!read.ok) throw new Error(read.reason);
    const state = { messages: [{ role: 'user', content: 'Hello' }] };
    const first = await playProgram(code, read.agent, { state });
    expect(first.text).toBe('{}');
    expect(first.events[0]).toMatchObject({ type: 'custom', name: 'state_ignored' });
    const second = await playProgram(code, read.agent, { state, calls: {} });
    expect([second.text, second.events.map(({ type }) => type)]).toEqual([
      '{}',
      ['message_delta', 'end'],
    ]);
    const own = await playProgram(code, read.agent, { state: { convoke: 1, state: { runs: 1 } } });
    expect([JSON.parse(own.text), own.events.map(({ type }) => type)]).toEqual([
      { runs: 1 },
      ['message_delta', 'end'],
    ]);
  },
);
