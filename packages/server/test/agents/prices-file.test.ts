import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { readPrices } from '../../src/agents/prices-file.ts';
import { readConfig } from '../../src/config/config.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import { examine } from '../../src/operate/doctor/doctor.ts';

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-prices-'));
  onTestFinished(() => removeFolderSync(folder));
  const path = join(folder, 'prices.yaml');
  writeFileSync(path, text);
  return path;
}

test('prices.yaml is read as price lists print it: for a million tokens (D-131)', async () => {
  const path = fileWith(`
currency: EUR
unpriced: allow
models:
  "anthropic/claude-*": { input: 3, output: 15.00, cached_input: "0.30" }
  "*": { input: 0.075, output: 0 }
`);
  expect(await readPrices(path)).toEqual({
    currency: 'EUR',
    unpriced: 'allow',
    models: [
      { glob: 'anthropic/claude-*', input: 3_000_000, output: 15_000_000, cachedInput: 300_000 },
      { glob: '*', input: 75_000, output: 0, cachedInput: undefined },
    ],
  });
  expect(await readPrices(undefined)).toEqual(noPrices);
});

test.each([
  ['models:\n  m: { input: -1, output: 1 }', 'prices.yaml:2:8: models.m.input must be an amount'],
  ['models:\n  m: { input: 1, outptu: 1 }', 'prices.yaml:2:18: models.m.outptu is an unknown key'],
  ['models: {}\ncurrency: dollars', 'prices.yaml:2:1: currency must be a currency code'],
  ['models: {}\nunpriced: maybe', 'prices.yaml:2:1: unpriced'],
  ['models: [', 'prices.yaml:1:10'],
  ['', 'prices.yaml is empty'],
])('a problem is named with its line and column: %j', async (text, reason) => {
  await expect(readPrices(fileWith(text))).rejects.toMatchObject({
    name: 'WrongSetting',
    message: expect.stringContaining(reason) as unknown,
  });
});

test('a file that does not exist is named', async () => {
  await expect(readPrices('/nowhere/prices.yaml')).rejects.toThrow(
    'CONVOKE_PRICES=/nowhere/prices.yaml: cannot be read (ENOENT)',
  );
});

test('doctor reports the prices, and what is wrong with them', async () => {
  const found = async (path: string) => {
    const findings = await examine(readConfig({ CONVOKE_PRICES: path, CONVOKE_SANDBOX: 'none' }));
    return findings.find(({ check }) => check === 'prices');
  };
  expect(await found(fileWith('models:\n  m: { input: 1, output: 1 }'))).toMatchObject({
    state: 'ok',
    text: '1 models in USD; others are refused under a cost ceiling',
  });
  expect(await found(fileWith('models:\n  m: { input: 1 }'))).toMatchObject({
    state: 'fail',
    text: expect.stringContaining('prices.yaml:2:3: models.m.output') as unknown,
  });
});
