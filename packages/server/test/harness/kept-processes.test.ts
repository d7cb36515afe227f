import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { KeptProcesses } from '../../src/harness/kept-processes.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { agentOf, recordingLog, temporaryFolder } from '../support/agent-folders.ts';

/** A process that ends when it is killed. */
class Process {
  readonly #ended = Promise.withResolvers<void>();
  isAlive = true;

  get exited(): Promise<void> {
    return this.#ended.promise;
  }

  async kill(): Promise<void> {
    this.isAlive = false;
    this.#ended.resolve();
  }
}

const agent = agentOf({});
const idleMs = 60_000;

async function openKept(idleMax = 2) {
  const folder = await temporaryFolder();
  const kept = new KeptProcesses<Process>({ clock: systemClock, log: recordingLog(), idleMax });
  const ownerOf = async (name: string) => {
    const [sessionFolder, stateDir] = [join(folder, name, 'workspace'), join(folder, name, 'home')];
    for (const path of [sessionFolder, stateDir]) await mkdir(path, { recursive: true });
    return { sessionId: sessionId(`sess_${name}`), agent, sessionFolder, stateDir };
  };
  /** A leg that starts a process and leaves it. */
  const leave = async (name: string) => {
    const [owner, process] = [await ownerOf(name), new Process()];
    await kept.admit(owner, process);
    kept.keep(owner, process, idleMs);
    return { owner, process };
  };
  return { kept, ownerOf, leave };
}

describe('kept processes', () => {
  test('are taken by their own session only, and by one leg at a time', async () => {
    const { kept, ownerOf, leave } = await openKept();
    const { owner, process } = await leave('one');
    expect(await kept.take(await ownerOf('two'))).toBe(undefined);
    expect(await kept.take(owner)).toBe(process);
    expect(kept.idle()).toEqual([]);
    // The leg that has it lost its run to the one that asks now.
    expect([await kept.take(owner), process.isAlive]).toEqual([undefined, false]);
  });

  test('end in the order in which they became idle, if there are too many', async () => {
    const { kept, leave } = await openKept();
    const [one, two] = [await leave('one'), await leave('two')];
    await kept.take(one.owner);
    kept.keep(one.owner, one.process, idleMs);
    const three = await leave('three');
    expect([one, two, three].map(({ process }) => process.isAlive)).toEqual([true, false, true]);
    expect(kept.idle()).toEqual(['sess_one', 'sess_three']);
  });

  test('end when a later leg of their session has started another one', async () => {
    const { kept, ownerOf } = await openKept();
    const [owner, old, current] = [await ownerOf('one'), new Process(), new Process()];
    await kept.admit(owner, old);
    await kept.admit(owner, current);
    kept.keep(owner, current, idleMs);
    kept.keep(owner, old, idleMs);
    expect([old.isAlive, current.isAlive, kept.idle()]).toEqual([false, true, ['sess_one']]);
  });

  test('are forgotten when they end on their own, and a leg that uses one keeps it when its session is released', async () => {
    const { kept, leave } = await openKept();
    const [one, two] = [await leave('one'), await leave('two')];
    await one.process.kill();
    expect(await kept.take(one.owner)).toBe(undefined);
    await kept.take(two.owner);
    await kept.release(two.owner.sessionId);
    expect(two.process.isAlive).toBe(true);
  });

  test('are ended by a leg that gave them back, unless the next leg has taken them', async () => {
    const { kept, leave } = await openKept();
    const [one, two] = [await leave('one'), await leave('two')];
    await kept.take(one.owner);
    for (const { owner, process } of [one, two]) await kept.end(owner, process);
    expect([one.process.isAlive, two.process.isAlive]).toEqual([true, false]);
    expect(kept.idle()).toEqual([]);
  });
});
