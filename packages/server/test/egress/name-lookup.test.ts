import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { HostsFile } from '../../src/egress/hosts-file.ts';
import { NameLookup } from '../../src/egress/name-lookup.ts';
import { candidatesOf, readSearchList } from '../../src/egress/search-list.ts';
import { createTenantLookups } from '../../src/egress/tenant-lookups.ts';
import { LookupFailed } from '../../src/egress/unreachable.ts';
import { FakeClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { startNameServer } from '../support/name-server.ts';

const names = { 'here.example': '192.0.2.7', 'there.example': '192.0.2.8' };
const here = [{ address: '192.0.2.7', family: 4 }];

async function createWorld() {
  const clock = new FakeClock();
  const server = await startNameServer(names);
  const sources = { clock, servers: [server.address] };
  const slowAsked = () =>
    new Set(server.asked.filter((name) => name.endsWith('.slow.example'))).size;
  return { clock, server, sources, slowAsked };
}

test('a name is asked of the name servers, an address and a name of this machine are not', async () => {
  const { server, sources } = await createWorld();
  const { resolve } = new NameLookup(sources);
  expect(await resolve('Here.example')).toEqual(here);
  expect(await resolve('gone.example')).toEqual([]);
  expect(new Set(server.asked)).toEqual(new Set(['here.example', 'gone.example']));
  expect(await resolve('127.0.0.1')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect(await resolve('::1')).toEqual([{ address: '::1', family: 6 }]);
  expect(await resolve('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
  expect(await resolve('app.localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
  for (const text of ['', '.', 'a..b', 'here.example\0.slow.example', 'a b', 'x'.repeat(300)]) {
    expect(await resolve(text)).toEqual([]);
  }
  expect(new Set(server.asked).size).toBe(2);
});

test('a name whose server is silent fails after two seconds', async () => {
  const { clock, sources, slowAsked } = await createWorld();
  const asked = new NameLookup(sources).resolve('a.slow.example').catch((error: unknown) => error);
  await eventually(() => slowAsked() === 1);
  clock.advance(2000);
  expect(await asked).toBeInstanceOf(LookupFailed);
  expect(await asked).toHaveProperty('message', 'a.slow.example could not be looked up within 2 s');
});

test('two names are looked up at a time, 64 wait for their turn, and more are refused', async () => {
  const { clock, server, sources, slowAsked } = await createWorld();
  const { resolve } = new NameLookup(sources);
  const slow = [1, 2].map((each) => resolve(`${each}.slow.example`).catch(() => 'slow'));
  await eventually(() => slowAsked() === 2);
  clock.advance(1000);
  const refused: string[] = [];
  const others = Array.from({ length: 70 }, (_, each) =>
    resolve(`${each}.example`).catch((error: unknown) => void refused.push(String(error))),
  );
  // Time stands still: these found no place to wait, so all the others wait now.
  await eventually(() => refused.length === 6);
  const because = 'was not looked up: 2 lookups of other names are under way, and slow';
  for (const message of refused) expect(message).toContain(because);
  expect(server.asked.filter((name) => !name.endsWith('.slow.example'))).toEqual([]);
  clock.advance(1000);
  expect(await Promise.all(slow)).toEqual(['slow', 'slow']);
  const found = await Promise.all(others);
  expect(found.filter((each) => each !== undefined)).toHaveLength(64);
});

test('equal names share a lookup', async () => {
  const { clock, sources, slowAsked } = await createWorld();
  const { resolve } = new NameLookup(sources);
  const slow = ['1', '1', '1'].map((each) => resolve(`${each}.slow.example`).catch(() => 'slow'));
  await eventually(() => slowAsked() === 1);
  // Time stands still: the second place is free.
  expect(await resolve('here.example')).toEqual(here);
  clock.advance(2000);
  expect(await Promise.all(slow)).toEqual(['slow', 'slow', 'slow']);
});

test('the names of one tenant hold up no other', async () => {
  const { clock, sources, slowAsked } = await createWorld();
  const resolve = createTenantLookups(sources);
  const attack = Array.from({ length: 30 }, (_, each) =>
    resolve('ten_a', `${each}.slow.example`).catch(() => 'slow'),
  );
  await eventually(() => slowAsked() === 2);
  // Time stands still: none of them has ended.
  expect(await resolve('ten_b', 'here.example')).toEqual(here);
  expect(slowAsked()).toBe(2);
  let ended = 0;
  for (const each of attack) void each.then(() => (ended += 1));
  await eventually(() => {
    clock.advance(2000);
    return ended === attack.length;
  });
  expect(new Set(await Promise.all(attack))).toEqual(new Set(['slow']));
});

test('the hosts file is read again after a change', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  const file = new HostsFile(path);
  expect(await file.addressesOf('a')).toEqual([]);
  await writeFile(path, '192.0.2.1 a A.example # b\n\n::1 a\nnonsense c\n# 192.0.2.3 d');
  expect(await file.addressesOf('a')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  expect(await file.addressesOf('a.example')).toHaveLength(1);
  for (const name of ['b', 'c', 'd', '#']) expect(await file.addressesOf(name)).toEqual([]);
  await writeFile(path, '192.0.2.20 a\n');
  expect(await file.addressesOf('a')).toEqual([{ address: '192.0.2.20', family: 4 }]);
});

test('the search list is applied as by glibc, so that service names of Kubernetes are found', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'resolv-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'resolv.conf');
  await writeFile(
    path,
    'nameserver 10.96.0.10\nsearch shop.svc.cluster.local svc.cluster.local cluster.local.\noptions ndots:5 trust-ad\n',
  );
  const list = await readSearchList(path);
  expect(candidatesOf('hooks', list)).toEqual([
    'hooks.shop.svc.cluster.local',
    'hooks.svc.cluster.local',
    'hooks.cluster.local',
    'hooks',
  ]);
  expect(candidatesOf('hooks.example.com', list).at(-1)).toBe('hooks.example.com');
  expect(candidatesOf('hooks.example.com.', list)).toEqual(['hooks.example.com']);
  expect(candidatesOf('a.b.c.d.e.f', list)[0]).toBe('a.b.c.d.e.f');
  const none = await readSearchList(join(folder, 'absent'));
  expect(candidatesOf('hooks.example.com', none)).toEqual(['hooks.example.com']);
});
