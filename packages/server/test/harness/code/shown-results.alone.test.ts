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

/** Calls tools as Mastra does, and says what it gets from them. */
const program = `import { agent } from '@convoke/agent';
import { durableTools } from '@convoke/agent/mastra';

const tools: Record<string, any> = durableTools({
  text: { execute: async () => 'paid' },
  object: { execute: async () => ({ value: 3 }) },
  nothing: { execute: async () => undefined },
});

export default agent(async (ctx) => {
  for (const [name, { execute }] of Object.entries(tools)) {
    ctx.say(JSON.stringify(await execute({}, { agent: { toolCallId: name } })));
  }
  await ctx.step('own', () => ({ value: 4 }));
});
`;

test('people see what a tool of a framework returned, as the model does, and no wrapper of the adapter', async () => {
  const folder = join(await temporaryFolder(), 'clerk');
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'agent.yaml'), 'framework: code\n');
  await writeFile(join(folder, 'agent.ts'), program);
  const harnesses = new Map([['code', code.harness]]);
  const read = await readAgentFolder({ folder, name: 'clerk', harnesses });
  if (!read.ok) throw new Error(read.reason);
  const { text, events } = await playProgram(code, read.agent);
  expect(text).toBe('"paid"{"value":3}""');
  const results = events.filter((each) => each.type === 'custom' && each.name === 'tool_result');
  expect(results).toMatchObject([
    { data: { name: 'text', output: 'paid' } },
    { data: { name: 'object', output: { value: 3 } } },
    { data: { name: 'nothing', output: null } },
    { data: { name: 'own', output: { value: 4 } } },
  ]);
});
