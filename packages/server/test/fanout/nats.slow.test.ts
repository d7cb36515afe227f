import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openNatsFanout } from '../../src/fanout/nats.ts';
import type { Fanout } from '../../src/ports/fanout.ts';
import { NatsServer } from '../faults/support/nats-server.ts';
import { eventually } from '../support/eventually.ts';
import { quietLog } from '../support/quiet-log.ts';
import { fanoutSuite } from './suite.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await NatsServer.open();
});
afterAll(() => nats.stop());

const joined: Fanout[] = [];
afterEach(async () => {
  for (const fanout of joined.splice(0)) await fanout.close();
});

async function join(namespace = 'one'): Promise<Fanout> {
  const fanout = await openNatsFanout({ url: nats.url, namespace, log: quietLog });
  joined.push(fanout);
  return fanout;
}

describe('wake-ups over NATS', () => {
  fanoutSuite(() => ({
    join: () => join(),
    interrupt: async () => {
      await nats.stop();
      await nats.start();
      return true;
    },
  }));

  test('services that share one NATS do not wake each other', async () => {
    const [here, sister, other] = [await join(), await join(), await join('two')];
    let [heard, overheard] = [0, 0];
    sister.subscribe('work', () => (heard += 1));
    other.subscribe('work', () => (overheard += 1));
    await eventually(() => {
      here.wake('work');
      return heard > 0;
    });
    expect(overheard).toBe(0);
  });

  test('a start without NATS succeeds, and connects later (D-324)', async () => {
    await nats.stop();
    const [here, there] = await Promise.all([join(), join()]);
    let heard = 0;
    there.subscribe('run:a', () => (heard += 1));
    here.wake('run:a');
    expect(heard).toBe(0);
    await nats.start();
    await eventually(() => {
      here.wake('run:a');
      return heard > 0;
    });
  });
});
