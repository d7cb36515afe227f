// How long a call of an assistant waits, what it asks before that, and what its stream says (D-615 to D-617).
import type { AskItem, McpRun, TranscriptEvent } from '@convoke/faces';
import { formatEventId, runId, sessionId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../src/domain/run/run.ts';
import { createLocalFanout } from '../../../src/fanout/local.ts';
import { CallStream } from '../../../src/http/faces/mcp/call-stream.ts';
import type { AskingMeans } from '../../../src/http/faces/mcp/capabilities.ts';
import { elicitationOf } from '../../../src/http/faces/mcp/rounds.ts';
import { placeIn } from '../../../src/http/faces/mcp/stream-place.ts';
import {
  type LiveForms,
  type WaitParts,
  type Waiting,
  formMs,
  waitForRun,
  waitedRun,
} from '../../../src/http/faces/mcp/waiting.ts';
import type { Topic } from '../../../src/ports/fanout.ts';
import { FakeClock } from '../../support/clocks.ts';

type Take = Parameters<WaitParts['follower']['follow']>[0]['take'];
type Written = readonly [string, object];

const topicOf = (key: string): Topic => `left:${key}`;
const asked = (key: string): Written => ['user_question', { interaction_key: key, question: 'Q?' }];
const answered = (key: string): Written => ['user_answered', { interaction_key: key, answer: 'a' }];
const running = {
  id: runId('run_1'),
  sessionId: sessionId('sess_1'),
  status: 'running',
  lastSeq: 1,
  outputText: null,
} as Run;

/** A call that waits for a run whose events the test gives. */
function begin(more: Partial<Waiting<McpRun>> = {}) {
  const clock = new FakeClock();
  const fanout = createLocalFanout();
  const subscribed = new Set<object>();
  const counted: typeof fanout = {
    ...fanout,
    subscribe(topic, onWake) {
      const leave = fanout.subscribe(topic, onWake);
      subscribed.add(leave);
      return () => {
        subscribed.delete(leave);
        leave();
      };
    },
  };
  const closed = new AbortController();
  let take: Take | undefined;
  let leave: () => void = () => {};
  let seq = 0;
  let isOver = false;
  const follower = {
    follow: (following: { readonly take: Take; readonly signal: AbortSignal }) =>
      new Promise<void>((resolve) => {
        ({ take } = following);
        leave = resolve;
        following.signal.addEventListener('abort', () => resolve());
      }),
  } as unknown as WaitParts['follower'];
  const waiting = { run: waitedRun(running), ms: 1000, left: undefined, endsAtAsk: true, ...more };
  const state = waitForRun(
    { follower, fanout: counted, clock },
    { ...waiting, end: () => closed.abort(), answer: (found) => found },
    closed.signal,
  );
  state.then(
    () => (isOver = true),
    () => {},
  );
  return {
    clock,
    fanout,
    closed,
    state,
    /** What is left behind when the wait is over. */
    leftovers: () => [clock.timers, subscribed.size],
    /** Whether the wait is over, once all that it does now is done. */
    async isOver() {
      await new Promise((resolve) => setImmediate(resolve));
      return isOver;
    },
    /** Gives what the log has now, or a page of it. */
    give(events: readonly Written[], { isCut = false } = {}) {
      const rendered = events.map(([type, data]): TranscriptEvent => {
        seq += 1;
        return { id: formatEventId(seq), type, data };
      });
      const ended = rendered.some(({ type }) => type === 'run_completed');
      const busy = take?.({ after: 0, lastSeq: seq, rendered, ended, isCut });
      busy?.then((wantsMore) => {
        if (!wantsMore) leave();
      }, leave);
    },
  };
}

/** Forms that write down what they are asked to do. */
function noted(more: Partial<LiveForms> = {}) {
  const notes: string[] = [];
  const forms: LiveForms = {
    asked: undefined,
    isOffered: () => true,
    show: ({ key }, said) => notes.push(`show ${key} ${said}`.trim()) > 0,
    withdraw: (key) => void notes.push(`withdraw ${key}`),
    topicOf,
    ...more,
  };
  return { forms, notes };
}

describe('a call waits', () => {
  test('for the end of its run, and leaves nothing behind', async () => {
    const { forms } = noted();
    const call = begin({ left: 'left:call', forms, onProgress: () => {} });
    call.give([['message_delta', { text: 'Hm.' }]]);
    expect(await call.isOver()).toBe(false);
    call.give([asked('a'), ['run_completed', {}]]);
    const { state } = await call.state;
    expect(state).toMatchObject({ text: 'Hm.', outcome: { status: 'completed' } });
    expect(call.leftovers()).toEqual([0, 0]);
  });

  test('until its time is over, its connection is closed, or its client leaves it', async () => {
    const timed = begin();
    timed.clock.advance(999);
    expect(await timed.isOver()).toBe(false);
    timed.clock.advance(1);
    expect(await timed.isOver()).toBe(true);
    const gone = begin();
    gone.closed.abort();
    expect(await gone.isOver()).toBe(true);
    const left = begin({ left: 'left:call' });
    left.fanout.wake('left:other');
    expect(await left.isOver()).toBe(false);
    left.fanout.wake('left:call');
    expect(await left.isOver()).toBe(true);
  });

  test('for nothing where its run has ended, unless only the log has the text', async () => {
    const ended = {
      ...running,
      status: 'completed',
      outputText: 'Done.',
      lastSeq: 3,
      output: null,
    } as Run;
    const at = { lastEventAt: 1, errorMessage: null, errorCode: null, usage: null };
    const whole = begin({ run: waitedRun({ ...ended, ...at }) });
    expect(await whole.isOver()).toBe(true);
    expect((await whole.state).state).toMatchObject({
      text: 'Done.',
      outcome: { status: 'completed' },
    });
    const long = begin({ run: waitedRun({ ...ended, ...at, outputText: null }) });
    expect(await long.isOver()).toBe(false);
    long.give([
      ['message_delta', { text: 'Long.' }],
      ['run_completed', {}],
    ]);
    expect((await long.state).state).toMatchObject({ text: 'Long.' });
  });

  test('until its run needs a person, seen at the newest event only', async () => {
    const call = begin({ run: waitedRun({ ...running, lastSeq: 3 }) });
    call.give([asked('a')]);
    expect(await call.isOver()).toBe(false);
    call.give([answered('a')], { isCut: true });
    call.give([asked('b')], { isCut: true });
    expect(await call.isOver()).toBe(false);
    call.give([['message_delta', { text: '.' }]]);
    expect(await call.isOver()).toBe(true);
    expect((await call.state).state.asks.map(({ key }) => key)).toEqual(['b']);
  });

  test('on beside a request where only the end counts', async () => {
    const call = begin({ endsAtAsk: false, forms: noted().forms });
    call.give([asked('a')]);
    expect(await call.isOver()).toBe(false);
    call.clock.advance(1000);
    expect(await call.isOver()).toBe(true);
  });

  test.each([
    ['no client that can ask', undefined],
    ['none that its user may decide on', noted({ isOffered: () => false }).forms],
    ['none that it can show', noted({ show: () => false }).forms],
  ])('until a request for which there is %s', async (_, forms) => {
    const call = begin({ forms });
    call.give([asked('a')]);
    expect(await call.isOver()).toBe(true);
  });

  test('while its user is asked about one request after the other, those that they may decide on', async () => {
    const { forms, notes } = noted({ isOffered: ({ key }) => key !== 'others' });
    const call = begin({ forms });
    call.give([['message_delta', { text: 'Hm.' }], asked('others'), asked('a'), asked('b')]);
    call.give([['message_delta', { text: '' }]]);
    expect([await call.isOver(), notes]).toEqual([false, ['show a Hm.']]);
    call.give([answered('a')]);
    expect([await call.isOver(), notes]).toEqual([
      false,
      ['show a Hm.', 'withdraw a', 'show b Hm.'],
    ]);
    // The form that was answered is closed, and its answer ends nothing any more.
    call.fanout.wake(topicOf('a'));
    expect(await call.isOver()).toBe(false);
    call.fanout.wake(topicOf('b'));
    expect(await call.isOver()).toBe(true);
    expect(call.leftovers()).toEqual([0, 0]);
  });

  test('longer while its user has a form, and its own time again after that', async () => {
    const { forms } = noted();
    const call = begin({ forms });
    call.give([asked('a')]);
    call.clock.advance(formMs - 1);
    expect(await call.isOver()).toBe(false);
    call.give([answered('a')]);
    // What its client says of the answered form ends nothing.
    call.fanout.wake(topicOf('a'));
    call.clock.advance(999);
    expect(await call.isOver()).toBe(false);
    call.clock.advance(1);
    expect(await call.isOver()).toBe(true);
    const short = begin({ forms });
    short.give([asked('a')]);
    short.clock.advance(formMs);
    expect(await short.isOver()).toBe(true);
    const long = begin({ forms, ms: 2 * formMs });
    long.give([asked('a')]);
    long.clock.advance(2 * formMs - 1);
    expect(await long.isOver()).toBe(false);
  });

  test('for the form that its user has from before its stream broke, without another one', async () => {
    const { forms, notes } = noted({ asked: 'a' });
    const open = begin({ forms });
    open.give([asked('a')]);
    open.clock.advance(formMs - 1);
    expect([await open.isOver(), notes]).toEqual([false, []]);
    open.fanout.wake(topicOf('a'));
    expect(await open.isOver()).toBe(true);
    const over = begin({ forms });
    over.give([asked('a'), answered('a')]);
    expect([await over.isOver(), notes]).toEqual([false, ['withdraw a']]);
    over.clock.advance(1000);
    expect(await over.isOver()).toBe(true);
  });

  test('and says so every five seconds, with how often', async () => {
    const heard: number[] = [];
    const call = begin({ ms: 12_000, onProgress: (count) => heard.push(count) });
    call.clock.advance(4999);
    expect(heard).toEqual([]);
    call.clock.advance(7001);
    expect([await call.isOver(), heard]).toEqual([true, [1, 2]]);
    expect(call.leftovers()).toEqual([0, 0]);
  });
});

describe('what a user is asked', () => {
  const ask = {
    kind: 'ask',
    about: 'question',
    id: '1',
    key: 'int_1',
    question: 'Q?',
    details: {},
  } as const;
  const account = { kind: 'connection_missing', url: 'https://convoke.example/c' };
  const connecting = { ...ask, details: { about: account } };
  const hidden = { ...ask, details: { about: { tool_input: 'x'.repeat(9000) } } };
  const link = 'https://convoke.example/r';
  const both = { forms: true, urls: true };

  type Row = readonly [string, AskItem, AskingMeans, string | undefined, object | undefined];
  test.each<Row>([
    ['a form', ask, both, link, { mode: 'form', message: 'Hm.\n\nQ?' }],
    ['a form without a link', ask, { forms: true, urls: false }, undefined, { mode: 'form' }],
    [
      'the run',
      ask,
      { forms: false, urls: true },
      link,
      { mode: 'url', elicitationId: 'int_1', url: link },
    ],
    ['the run, which shows more', hidden, both, link, { mode: 'url', url: link }],
    [
      'the link of the account',
      connecting,
      both,
      link,
      { mode: 'url', url: account.url, message: 'Q?' },
    ],
    ['a form about an account', connecting, { forms: true, urls: false }, link, { mode: 'form' }],
    ['nothing without means', ask, { forms: false, urls: false }, link, undefined],
    ['nothing that cannot be shown', hidden, { forms: true, urls: false }, link, undefined],
    ['nothing without a console', ask, { forms: false, urls: true }, undefined, undefined],
  ])('is %s', (_, ...[each, means, to, expected]) => {
    const params = elicitationOf(each, 'Hm.', { means, link: to });
    if (expected === undefined) expect(params).toBe(undefined);
    else expect(params).toMatchObject(expected);
  });
});

describe('the stream of a call', () => {
  const place = { runId: 'run_1', rpcId: 7, means: { forms: true, urls: false }, asked: undefined };

  /** A stream whose reader is as busy as the test says. */
  function streamOf(where?: typeof place) {
    const written: string[] = [];
    const reads: (() => void)[] = [];
    let isBusy = false;
    const take: ConstructorParameters<typeof CallStream>[0] = ({ rendered, ended }) => {
      written.push(`${String(rendered)}${ended ? 'ended' : ''}`);
      if (!isBusy) return undefined;
      return new Promise((resolve) => reads.push(() => resolve(true)));
    };
    const placeWith = (asked?: string) => where && { ...where, asked };
    const stream = new CallStream(take, { placeWith });
    const read = async (count = reads.length) => {
      for (const each of reads.splice(0, count)) each();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { stream, written, read, hold: (busy: boolean) => (isBusy = busy) };
  }

  const idIn = (frame = '') => placeIn(/^id: (\S+)\n/.exec(frame)?.[1] ?? '');

  test('begins with its place, and names in it what the user is asked', () => {
    const { stream, written } = streamOf(place);
    stream.ask({ id: 'sess_1/int_1', key: 'int_1', params: { mode: 'form' } });
    expect(idIn(written[0])).toEqual(place);
    expect(written[0]).toMatch(/\ndata: \n\n$/);
    expect(idIn(written[1])).toEqual({ ...place, asked: 'int_1' });
    expect(written[1]).toContain('"id":"sess_1/int_1","method":"elicitation/create"');
  });

  test('has no ids where it cannot be resumed', async () => {
    const { stream, written } = streamOf();
    stream.ask({ id: 'sess_1/int_1', key: 'int_1', params: {} });
    stream.withdraw('sess_1/int_1');
    await stream.end({ id: 7 });
    expect(written.filter((frame) => !frame.startsWith('data: {'))).toEqual([]);
    expect(written).toHaveLength(3);
    expect(written[2]).toBe('data: {"id":7}\n\nended');
  });

  test('tells its progress only to a client that has read what is there', async () => {
    const { stream, written, read, hold } = streamOf();
    const told = () => written.filter((frame) => frame.includes('progress"')).length;
    stream.tell('t', 1);
    hold(true);
    stream.tell('t', 2);
    stream.tell('t', 3);
    expect(told()).toBe(2);
    // What must be said is written anyway, and the newest write counts.
    stream.withdraw('sess_1/int_1');
    expect(written).toHaveLength(3);
    hold(false);
    await read();
    stream.tell('t', 4);
    expect(told()).toBe(3);
    expect(written.at(-1)).toContain('"progressToken":"t","progress":4');
  });

  test('waits for the newest of its writes before the next progress', async () => {
    const { stream, written, read, hold } = streamOf();
    hold(true);
    stream.withdraw('a');
    stream.withdraw('b');
    await read(1);
    stream.tell('t', 1);
    expect(written).toHaveLength(2);
    await read();
    stream.tell('t', 2);
    expect(written).toHaveLength(3);
  });
});
