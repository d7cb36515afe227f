import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { formatted } from '../../../sdk/scripts/format.ts';
import type { Harness } from '../../src/ports/harness.ts';
import { agentOf, problemsWith, temporaryFolder } from '../support/agent-folders.ts';
import { Sitting } from './sittings.ts';

const guide = fileURLToPath(new URL('../../../../docs/guides/add-a-harness.md', import.meta.url));

test('the code of the guide is formatted as `npm run check` wants it', async () => {
  const code = /```ts [^\n]*\n(?<code>.*?)```/s.exec(await readFile(guide, 'utf8'))?.groups?.[
    'code'
  ];
  expect(formatted('harness.ts', code ?? '')).toBe(code);
});

test('the harness of the guide works as printed', async () => {
  const code = /```ts [^\n]*\n(?<code>.*?)```/s.exec(await readFile(guide, 'utf8'))?.groups?.[
    'code'
  ];
  const file = join(await temporaryFolder(), 'shout.ts');
  await writeFile(file, code ?? '');
  const printed: { shoutHarness(): Harness } = await import(pathToFileURL(file).href);
  const harness = printed.shoutHarness();
  const sitting = (ask_user: boolean) => {
    const agent = agentOf({ framework: 'shout', settings: { ask_user } });
    const places = { sessionFolder: '/nonexistent', stateDir: '/nonexistent' };
    return new Sitting(harness, { name: 'shout', agent, ...places });
  };
  const plain = await sitting(false).say('hello you');
  expect(plain.text).toBe('HELLO YOU ');
  expect(plain.end).toEqual({ type: 'end', outcome: 'completed' });

  const asked = sitting(true);
  expect((await asked.say('hello')).end).toEqual({ type: 'end', outcome: 'waiting' });
  const answers = new Map([['loud', { kind: 'question', values: ['very'] } as const]]);
  expect((await asked.hear(asked.start('hello', answers))).text).toBe('HELLO! ');
  expect(problemsWith(harness, agentOf({ framework: 'shout', model: 'x/y' }))).toHaveLength(1);
});
