import { expect, test } from 'vitest';
import { readEgress } from '../../src/domain/egress.ts';
import { findTarget } from '../../src/egress/target.ts';

/** Names that every resolver knows, because they are numbers in disguise. */
const thisMachine = '127.1';
const insideNetwork = '10.1';

async function reach(entry: string, host: string, port: number): Promise<string> {
  const target = await findTarget(
    [readEgress(entry)].filter((each) => each !== undefined),
    host,
    port,
  );
  return target.ok ? 'reached' : target.reason;
}

test('a host that is not listed is not even looked up', async () => {
  expect(await reach('a.example', 'b.example', 443)).toBe(
    "b.example:443 is not in the agent's sandbox.network",
  );
});

test('a listed name that leads to this machine is refused, whatever port is named', async () => {
  const refused = `${thisMachine} leads to an address that is not open to agents`;
  expect(await reach(thisMachine, thisMachine, 80)).toBe(refused);
  expect(await reach(`${thisMachine}:8080`, thisMachine, 8080)).toBe(refused);
});

test('a listed name that leads into a private network needs its port named', async () => {
  expect(await reach(insideNetwork, insideNetwork, 443)).toContain('not open to agents');
  expect(await reach(`${insideNetwork}:8080`, insideNetwork, 8080)).toBe('reached');
});

test('an address that is listed as one is meant', async () => {
  expect(await reach('127.0.0.1:8080', '127.0.0.1', 8080)).toBe('reached');
  expect(await reach('localhost:8080', 'localhost', 8080)).toBe('reached');
});

test('what was checked is what is connected to', async () => {
  const entry = readEgress('127.0.0.1:8080');
  const target = await findTarget(entry === undefined ? [] : [entry], '127.0.0.1', 8080);
  if (!target.ok) throw new Error(target.reason);
  const found = await new Promise((resolve) => {
    target.lookup('another.example', { all: true }, (_, addresses) => resolve(addresses));
  });
  expect(found).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
