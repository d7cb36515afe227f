import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FollowOptions, NotFoundError, type RunEvent, type RunHandle } from '../src/index.ts';
import { clientAt } from './answering.ts';
import {
  type Fault,
  type FaultServer,
  type LogEvent,
  type Play,
  startFaultServer,
} from './fault-server.ts';

const silenceMs = 50;
const patienceMs = 100;

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('spec §6: whatever happens to the connections', () => {
  test('every event is delivered exactly once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(plays(), async (play) => {
        const run = begin(play);
        expect(whole(await collect(run))).toEqual(play.log);
        expect(server.cursors[0]).toBeUndefined();
      }),
      { numRuns: 150, endOnFailure: true },
    );
  });

  test('following after any event delivers exactly the later events', async () => {
    await fc.assert(
      fc.asyncProperty(plays(), fc.nat(), async (play, place) => {
        const start = place % play.log.length;
        const after = play.log[start]?.id;
        const run = begin(play);
        expect(whole(await collect(run, { after }))).toEqual(play.log.slice(start + 1));
        expect(server.cursors[0]).toBe(after);
      }),
      { numRuns: 75, endOnFailure: true },
    );
  });

  test('a break inside any character loses nothing', async () => {
    const log = logOf(['Grüße 👋🏽', 'ß']);
    const bytes = Buffer.byteLength(JSON.stringify(log)) + 600;
    for (let afterBytes = 0; afterBytes < bytes; afterBytes += 7) {
      const run = begin({ log, faults: [{ kind: 'cut', afterBytes }] });
      expect(await text(run)).toBe('Grüße 👋🏽ß');
    }
  });
});

describe('a stream that closes without a terminal event', () => {
  test('may do so for hours while the run waits for an answer', async () => {
    const log = logOf(['a']);
    const faults: Fault[] = Array.from({ length: 60 }, () => ({ kind: 'close', afterEvents: 1 }));
    const run = begin({ log, faults });
    expect(ids(await collect(run))).toEqual(ids(log));
  });

  test('ends following if the run has ended and there are no more events', async () => {
    const log = logOf(['a', 'b']).slice(0, -1);
    const run = begin({ log });
    expect(ids(await collect(run))).toEqual(ids(log));
  });

  test('ends following if the history is no longer available', async () => {
    const run = begin({ log: [] });
    expect(await collect(run)).toEqual([]);
  });
});

describe('following ends with an error', () => {
  test('immediately if a retry cannot help', async () => {
    begin({ log: logOf(['a']) });
    const stranger = clientAt(server).sessions.at('sess_1').runs.at('run_other');
    await expect(collect(stranger)).rejects.toBeInstanceOf(NotFoundError);
    const run = begin({ log: logOf(['a']) });
    await expect(collect(run, { after: '000000000999' })).rejects.toMatchObject({ status: 400 });
    expect(server.cursors).toHaveLength(1);
  });

  test('when every stream contains something that is not an event, although the run can be read', async () => {
    const faults: Fault[] = Array.from({ length: 500 }, () => ({ kind: 'garble', afterEvents: 1 }));
    const run = begin({ log: logOf(['a', 'b']), faults });
    await expect(collect(run, { patienceMs })).rejects.toMatchObject({ code: 'stream_broken' });
  });

  test('with the reason of the signal', async () => {
    const run = begin({ log: logOf(['a']), faults: [{ kind: 'stall', afterBytes: 100_000 }] });
    const controller = new AbortController();
    const follow = run.follow({ signal: controller.signal });
    await follow.next();
    controller.abort(new Error('enough'));
    const rest = (async () => {
      for await (const _event of follow);
    })();
    await expect(rest).rejects.toThrow('enough');
    await expect.poll(() => server.openStreams).toBe(0);
  });
});

describe('following', () => {
  test('passes on unknown types, which are never terminal (rule 5)', async () => {
    const log = logOf(['a']);
    const odd = { id: '000000000000', type: 'acp.plan', data: { steps: [1] } };
    const run = begin({ log: [odd, ...log] });
    const [first, ...rest] = await collect(run);
    expect(first).toMatchObject(odd);
    expect(ids(rest)).toEqual(ids(log));
  });

  test('closes its connection when the loop is left', async () => {
    const run = begin({ log: logOf(['a']), faults: [{ kind: 'stall', afterBytes: 300 }] });
    for await (const _event of run) break;
    await expect.poll(() => server.openStreams).toBe(0);
  });

  test('does not mistake a slow reader for a silent server', async () => {
    const connectionsOf = async () => {
      const run = begin({ log: logOf(['a', 'b', 'c']), pieceBytes: [200] });
      const follow = run.follow({ silenceMs: 250 });
      await follow.next();
      const resumeAt = performance.now() + 500;
      await expect.poll(() => performance.now()).toBeGreaterThan(resumeAt);
      for await (const _event of follow);
      return server.cursors.length;
    };
    // A machine that stands still for as long makes the server silent, too; a mistake happens every time.
    await expect.poll(connectionsOf).toBe(1);
  });

  test('returns the text of a run that ended before following started', async () => {
    const run = begin({ log: logOf(['Hello', ' ', 'there']) });
    expect(await text(run)).toBe('Hello there');
    expect(await run.text()).toBe('Hello there');
  });

  test('leaves out what an interruption takes back, wherever the connections break (D-87)', async () => {
    const data = { run_id: 'run_1', attempt: 1, reason: 'worker_lost' };
    const log = [
      ...logOf(['Hello', ' the']).slice(0, -1),
      { type: 'run_interrupted', data: { ...data, discard_from_event_id: '000000000002' } },
      { type: 'run_resumed', data: { ...data, attempt: 2 } },
      { type: 'message_delta', data: { text: ' there' } },
      { type: 'run_completed', data: { run_id: 'run_1' } },
    ].map((event, index) => ({ ...event, id: String(index + 1).padStart(12, '0') }));
    for (let afterBytes = 0; afterBytes < 900; afterBytes += 60) {
      const run = begin({ log, faults: [{ kind: 'cut', afterBytes }] });
      expect(await run.text()).toBe('Hello there');
    }
    // Events are delivered as they are: a reader that shows text cuts it with `RunText`.
    expect(whole(await collect(begin({ log })))).toEqual(log);
  });
});

function begin(play: Partial<Play> & Pick<Play, 'log'>): RunHandle {
  return clientAt(server).sessions.at('sess_1').runs.at(server.play(play));
}

async function collect(run: RunHandle, options: FollowOptions = {}): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run.follow({ silenceMs, ...options })) events.push(event);
  return events;
}

async function text(run: RunHandle): Promise<string> {
  const events = await collect(run);
  return events.map((event) => (event.type === 'message_delta' ? event.data.text : '')).join('');
}

function whole(events: readonly RunEvent[]): LogEvent[] {
  return events.map(({ id, type, data }) => ({ id, type, data }));
}

function ids(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id);
}

/** Numbered as the service numbers them (D-02), the last one terminal. */
function logOf(texts: readonly string[]): LogEvent[] {
  const deltas = texts.map((said) => ({ type: 'message_delta', data: { text: said } }));
  const end = { type: 'run_completed', data: { run_id: 'run_1' } };
  return [...deltas, end].map((event, index) => ({
    id: String(index + 1).padStart(12, '0'),
    ...event,
  }));
}

function plays(): fc.Arbitrary<Play> {
  const place = fc.nat(4000);
  const count = fc.nat(30);
  const fault: fc.Arbitrary<Fault> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('cut' as const), afterBytes: place }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stall' as const), afterBytes: place }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('close' as const), afterEvents: count }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), events: count }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('garble' as const), afterEvents: count }),
    },
    fc.record({
      kind: fc.constant('refuse' as const),
      status: fc.constantFrom(429 as const, 500 as const, 503 as const),
    }),
    fc.constant({ kind: 'html' as const }),
    fc.constant({ kind: 'reset' as const }),
    fc.constant({ kind: 'restart' as const }),
  );
  return fc.record({
    log: fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 30 }).map(logOf),
    faults: fc.array(fault, { maxLength: 8 }),
    pieceBytes: fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 }),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    refusedReads: fc.array(fc.boolean(), { maxLength: 6 }),
  });
}
