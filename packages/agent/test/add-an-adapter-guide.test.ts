import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Json, agent } from '@convoke/agent';
import { everyKill } from '@convoke/agent/test';
import { expect, test } from 'vitest';
import { root, textOf } from '../../../test/repository.ts';
import { formatted } from '../../sdk/scripts/format.ts';

interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly input: Json }[];
}

interface Model {
  readonly name: string;
  readonly answer: (messages: object[]) => Promise<Answer>;
}

interface Adapter {
  readonly durableModel: (model: Model) => Model;
  readonly durableTool: (
    tool: string,
    execute: (input: unknown) => unknown,
  ) => (input: Json, id: string) => Promise<unknown>;
}

const code =
  /```ts [^\n]*\n(?<code>.*?)```/s.exec(textOf('docs/guides/add-an-adapter.md'))?.groups?.[
    'code'
  ] ?? '';

test('the code of the guide is formatted as `npm run check` wants it', () => {
  expect(formatted('adapter.ts', code)).toBe(code);
});

test('the adapter of the guide repeats nothing, wherever its process is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adapter-'));
  try {
    const adapters = pathToFileURL(join(root, 'packages/agent/src/adapters/loop/')).href;
    const file = join(folder, 'adapter.ts');
    await writeFile(
      file,
      code.replaceAll(
        /from '(\..+?)'/g,
        (_all, path: string) => `from '${new URL(path, adapters).href}'`,
      ),
    );
    const { durableModel, durableTool }: Adapter = await import(pathToFileURL(file).href);
    const model = durableModel({
      name: 'loop-1',
      answer: async (messages) =>
        messages.length === 1
          ? { text: 'Paying. ', calls: [{ id: 'c1', tool: 'pay', input: { amount: 5 } }] }
          : { text: 'Paid.', calls: [] },
    });
    const pay = durableTool('pay', (input) => ({ paid: input }));
    const make = () =>
      agent(async () => {
        const messages: object[] = [{ role: 'user', text: 'Pay.' }];
        for (;;) {
          const { text, calls } = await model.answer(messages);
          messages.push({ role: 'assistant', text });
          if (calls.length === 0) return;
          for (const { id, input } of calls) {
            messages.push({ role: 'tool', text: JSON.stringify(await pay(input, id)) });
          }
        }
      });
    const { text, calls } = await everyKill(make);
    expect(text).toBe('Paying. Paid.');
    expect(calls.map(({ name }) => name)).toEqual(['model', 'pay', 'model']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
