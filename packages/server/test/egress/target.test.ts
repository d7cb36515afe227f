import { expect, test } from 'vitest';
import { readEgress } from '../../src/domain/egress.ts';
import { findTarget } from '../../src/egress/target.ts';

const thisMachine = 'loopback.example';
const privateNetwork = 'intranet.example';
const known: Record<string, string> = {
  [thisMachine]: '127.0.0.1',
  [privateNetwork]: '10.0.0.1',
  '127.0.0.1': '127.0.0.1',
  localhost: '127.0.0.1',
};
const resolve = async (host: string) => {
  const address = known[host];
  return address === undefined ? [] : [{ address, family: 4 }];
};

async function reach(entry: string, host: string, port: number): Promise<string> {
  const target = await findTarget(
    { entries: [readEgress(entry)].filter((each) => each !== undefined), resolve },
    host,
    port,
  );
  return target.ok ? 'reached' : target.reason;
}

test('a host that is not listed is refused without a lookup', async () => {
  expect(await reach('a.example', 'b.example', 443)).toBe(
    "b.example:443 is not in the agent's sandbox.network",
  );
});

test('a listed name that resolves to this machine is refused, with a port or without', async () => {
  const refused = `${thisMachine} has no address that is open to agents`;
  expect(await reach(thisMachine, thisMachine, 80)).toBe(refused);
  expect(await reach(`${thisMachine}:8080`, thisMachine, 8080)).toBe(refused);
});

test('a listed name that resolves to a private network is reachable only if listed with its port', async () => {
  expect(await reach(privateNetwork, privateNetwork, 443)).toBe(
    `${privateNetwork} has no address that is open to agents`,
  );
  expect(await reach(`${privateNetwork}:8080`, privateNetwork, 8080)).toBe('reached');
});

test('a name that does not exist is refused like one at a private address', async () => {
  const absent = 'absent.example';
  expect(await reach(absent, absent, 443)).toBe(`${absent} has no address that is open to agents`);
});

test('a listed address, and localhost, are reachable whatever their network', async () => {
  expect(await reach('127.0.0.1:8080', '127.0.0.1', 8080)).toBe('reached');
  expect(await reach('localhost:8080', 'localhost', 8080)).toBe('reached');
});

test('the connection uses the addresses that were checked', async () => {
  const entry = readEgress('127.0.0.1:8080');
  const entries = entry === undefined ? [] : [entry];
  const target = await findTarget({ entries, resolve }, '127.0.0.1', 8080);
  if (!target.ok) throw new Error(target.reason);
  const found = await new Promise((resolve) => {
    target.lookup('another.example', { all: true }, (_, addresses) => resolve(addresses));
  });
  expect(found).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
