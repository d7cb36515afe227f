import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Fault,
  type FaultServer,
  type LogEvent,
  startFaultServer,
} from '../../sdk/test/fault-server.ts';
import { type Asked, askPython, modes, programPath } from './python.ts';

const log: LogEvent[] = [
  { id: 'e01', type: 'run_started', data: {} },
  { id: 'e02', type: 'message_delta', data: { text: 'Grüße 👋🏽 ' } },
  { id: 'e03', type: 'scripted.mood', data: { mood: '☀️' } },
  { id: 'e04', type: 'message_delta', data: { text: 'bye' } },
  { id: 'e05', type: 'run_completed', data: {} },
];
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

  test.each<readonly [string, readonly Fault[], object]>([
    ['events that come twice', [{ kind: 'repeat', events: 3 }], {}],
    [
      'a stream that ends in order before the run does',
      [0, 1, 3].map((afterEvents) => ({ kind: 'close', afterEvents })),
      {},
    ],
    ['something that is no event', [{ kind: 'garble', afterEvents: 2 }], {}],
    [
      '429, 500 and 503',
      ([429, 500, 503] as const).map((status) => ({ kind: 'refuse', status })),
      {},
    ],
    ['a page of a proxy', [{ kind: 'html' }], {}],
    ['no answer', [{ kind: 'reset' }, { kind: 'reset' }], {}],
    ['a server that restarts', [{ kind: 'cut', afterBytes: 300 }, { kind: 'restart' }], {}],
    [
      'lines that end in CR LF',
      [{ kind: 'cut', afterBytes: 333 }],
      { lineEnd: '\r\n', pieceBytes: [1] },
    ],
    [
      'lines that end in CR',
      [{ kind: 'cut', afterBytes: 333 }],
      { lineEnd: '\r', pieceBytes: [5] },
    ],
    [
      'a run that cannot be read',
      [{ kind: 'cut', afterBytes: 400 }],
      { refusedReads: [true, true] },
    ],
  ])('yields each event once over %s', async (_name, faults, more) => {
    expect(await follow(faults, more)).toEqual(whole);
  });

  test('opens a silent stream again', async () => {
    const stalls = [0, 400].map((afterBytes) => ({ kind: 'stall', afterBytes }) as const);
    expect(await follow(stalls, {}, { silence: 0.2 })).toEqual(whole);
  });

  test('continues after the event that it is told, and asks for nothing earlier', async () => {
    expect(await follow([], {}, { after: 'e03' })).toEqual({ events: ['e04', 'e05'], code: null });
    expect(server.cursors).toEqual(['e03']);
    expect(await follow([], {}, { after: 'e05' })).toEqual({ events: [], code: null });
  });

  test('raises at once what a retry cannot fix, and the rest after its patience', async () => {
    expect(await follow([], {}, { after: 'unknown' })).toEqual({ events: [], code: 'http_400' });
    const broken = Array.from({ length: 1000 }, () => ({ kind: 'refuse', status: 503 }) as const);
    expect(await follow(broken, {}, { patience: 0.1 })).toEqual({ events: [], code: 'http_503' });
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
