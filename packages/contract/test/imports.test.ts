import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const source = new URL('../src/', import.meta.url);

// Architecture: schemas only, safe in a browser.
test('the contract imports itself and zod, and nothing else', async () => {
  const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(40);
  for (const name of files) {
    const text = await readFile(new URL(name, source), 'utf8');
    const imports = Array.from(
      text.matchAll(/^(?:import|export)[^'";]*from '([^']+)'/gm),
      ([, from]) => from,
    );
    for (const from of imports) expect(from).toMatch(/^zod$|^\.{1,2}\/.+\.ts$/);
    expect(text).not.toMatch(/\bprocess\.|\bBuffer\b|import\(/);
  }
});
