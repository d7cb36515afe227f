import type { Template } from '../template.ts';

/** An agent of one function in TypeScript. */
export const ts: Template = { files };

const scripts = { test: 'convoke agents test' };

function files(name: string): Readonly<Record<string, string>> {
  return {
    'agent.yaml': `schema: 1
name: ${name}
description: Asks for permission, and writes a note
framework: code
session_files: true
`,
    'agent.ts': `import { mkdirSync, writeFileSync } from 'node:fs';
import { agent } from '@convoke/agent';

// Every leg of a run calls this function from its first line. What has an effect belongs in a step.
export default agent<{ notes?: number }>(async (ctx) => {
  ctx.say(\`You said: \${ctx.prompt}\\n\`);
  const words = await ctx.step('count', () => ctx.prompt.split(/\\s+/).length, { repeatable: true });
  const note = await ctx.approve('write_note', { text: ctx.prompt, words }, ({ input }) => {
    mkdirSync('outputs', { recursive: true });
    writeFileSync('outputs/note.txt', \`\${input.text} (\${input.words} words)\\n\`);
  });
  if (!note.allowed) return 'Then I write nothing.\\n';
  ctx.state.notes = (ctx.state.notes ?? 0) + 1;
  return \`It is in note.txt, note \${ctx.state.notes} of this session.\\n\`;
});
`,
    'agent.test.ts': `import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { everyKill, rehearse } from '@convoke/agent/test';
import notes from './agent.ts';

process.chdir(mkdtempSync(join(tmpdir(), 'agent-')));

test('it writes nothing without permission', async () => {
  const { text } = await rehearse(notes, { prompt: 'Hello', answer: () => false });
  assert.match(text, /write nothing/);
});

test('it does nothing twice, whenever its process is lost', async () => {
  const { calls } = await everyKill(() => notes, { prompt: 'Hello there' });
  assert.deepEqual(calls.map((call) => call.name), ['count', 'write_note']);
});
`,
    'package.json': `${JSON.stringify({ name, private: true, type: 'module', scripts }, undefined, 2)}\n`,
  };
}
