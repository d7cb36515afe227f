import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  clientRules,
  expectedFollow,
  observeFollow,
  playRule,
  titled,
} from '../../sdk/test/client-rules.ts';
import { type Fault, type FaultServer, startFaultServer } from '../../sdk/test/fault-server.ts';
import { type Asked, askPython, modes, programPath } from './python.ts';

const { log } = clientRules;
const ids = log.map(({ id }) => id);
/** More bytes than the events of the log have. */
const logBytes = 1000;

interface FollowerReply {
  readonly events: readonly string[];
  readonly code: string | null;
  readonly result?: unknown;
}

describe.each(modes)('follow, %s', (mode) => {
  let server: FaultServer;
  let follower: Asked;
  beforeAll(async () => {
    server = await startFaultServer();
    follower = askPython([programPath('follower.py'), mode]);
  });
  afterAll(async () => {
    await follower[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const follow = (faults: readonly Fault[], more: object = {}, options: object = {}) => {
    const run_id = server.play({ log, faults, ...more });
    const { baseUrl: base_url } = server;
    return follower.ask<FollowerReply>({ base_url, run_id, follow: { silence: 20, ...options } });
  };
  const whole: FollowerReply = { events: ids, code: null };

  test('yields each event once when the connection is cut at every 23rd byte', async () => {
    for (let afterBytes = 0; afterBytes < logBytes; afterBytes += 23) {
      const cut = { kind: 'cut', afterBytes } as const;
      expect(await follow([cut, cut], { pieceBytes: [7, 64] }), `cut at ${afterBytes}`).toEqual(
        whole,
      );
    }
  });

  test.each(titled(clientRules.follow))('continues over %s', async (_rule, rule) => {
    const { after, silence_ms = 20_000, patience_ms } = rule;
    const { events, code } = await follower.ask<FollowerReply>({
      base_url: server.baseUrl,
      run_id: playRule(server, rule),
      follow: {
        after,
        silence: silence_ms / 1000,
        ...(patience_ms !== undefined && { patience: patience_ms / 1000 }),
      },
    });
    expect(observeFollow(server, rule, { events, code })).toEqual(expectedFollow(rule));
  });

  const wait = (how: 'text' | 'wait', faults: readonly Fault[], timeout: number) => {
    const run_id = server.play({ log, faults });
    return follower.ask<FollowerReply>({ base_url: server.baseUrl, run_id, wait: how, timeout });
  };

  test('text and wait return what they got in time', async () => {
    expect(await wait('text', [], 60)).toMatchObject({ code: null, result: 'Grüße 👋🏽 bye' });
    const { result } = await wait('wait', [], 60);
    expect(result).toMatchObject({ status: 'completed' });
  });

  test.each(['text', 'wait'] as const)(
    '%s raises a TimeoutError when its time is up',
    async (how) => {
      const stalls = Array.from(
        { length: 50 },
        () => ({ kind: 'stall', afterBytes: 200 }) as const,
      );
      const late = { events: [], code: 'wait_timeout' };
      expect(await wait(how, stalls, 0.2)).toEqual(late);
      const refusals = Array.from(
        { length: 5000 },
        () => ({ kind: 'refuse', status: 503 }) as const,
      );
      expect(await wait(how, refusals, 0.2)).toEqual(late);
    },
  );
});
