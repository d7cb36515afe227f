import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Operation, operationList } from '../../contract/src/index.ts';
import { foreign, handWritten, nouns, placesOf } from '../scripts/method-names.ts';
import { shared, source, wireFiles } from '../scripts/wire.ts';

const files = wireFiles();

test.each(Object.entries(files))('%s is what the contract says', async (name, text) => {
  const written = await readFile(new URL(name, source), 'utf8');
  expect(written, 'run: npm run reference').toBe(text);
});

test('every operation has a method in both clients, but those of other protocols (D-223)', () => {
  const missing = operationList.filter((operation) => !hasMethod(operation));
  expect(missing.map(({ id }) => id)).toEqual([...foreign]);
});

function hasMethod(operation: Operation): boolean {
  const places = placesOf(operation).map(({ noun, method }) => `${noun}.${method}`);
  const [noun = '', method = ''] = (places[0] ?? handWritten[operation.id] ?? '').split('.');
  const file = nouns[noun]?.base?.[0];
  const own = file === undefined ? '' : (files[`_sync/${file}.py`] ?? '');
  const both = `${files['_generated/resources.py']}\n${own}`;
  const declaration = new RegExp(`^    def ${method}\\(`, 'm');
  return declaration.test(both) && both.includes(`op.${operation.id.toUpperCase()}`);
}

test('the blocking client awaits nothing, and has no file that is made from none', async () => {
  const folder = new URL('_sync/', source);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py'));
  const own = ['__init__.py', 'driver.py', 'following.py', 'transport.py'];
  expect(names.toSorted()).toEqual([...own, ...shared.map((name) => `${name}.py`)].toSorted());
  const texts = names.map((name) => readFile(new URL(name, folder), 'utf8'));
  expect((await Promise.all(texts)).join('\n')).not.toMatch(
    /\bawait |\basync (def|for|with)\b|\bAsync[A-Z]/,
  );
});
