import { runId, sessionId } from '@convoke/contract';
import type { Agent } from '../../../src/domain/agent.ts';
import type { Json } from '../../../src/domain/json.ts';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type {
  Answer,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegInput,
} from '../../../src/ports/harness.ts';
import { noTexts, readBy } from '../../support/agent-folders.ts';
import { ruledEffects } from '../../support/effects.ts';

export interface TestClock extends Clock {
  readonly waits: number[];
  /** Number of timers that are set and not cleared. */
  pending(): number;
}

/** A clock whose timers fire at once, or, with `hold`, never. */
export function testClock({ hold = false } = {}): TestClock {
  const waits: number[] = [];
  const timers = new Set<object>();
  return {
    waits,
    now: () => 0,
    pending: () => timers.size,
    after(ms, callback) {
      waits.push(ms);
      const timer = {};
      timers.add(timer);
      if (!hold) queueMicrotask(() => timers.delete(timer) && callback());
      return () => timers.delete(timer);
    },
  };
}

export interface Start extends Partial<LegContext> {
  readonly agent: Agent;
  readonly answers?: Record<string, Answer>;
  readonly clock?: Clock;
  /** Whether the leg continues after a loss. */
  readonly isContinued?: boolean;
}

export function start({ answers, clock = testClock(), isContinued, ...rest }: Start): Leg {
  const input = inputOf(answers, isContinued);
  const harness: Harness = scriptedHarness({ clock });
  const agent = readBy(harness, rest.agent);
  return harness.start(input, {
    effects: ruledEffects(agent, input),
    runId: runId('run_1'),
    sessionId: sessionId('sess_1'),
    runNumber: 1,
    prompt: 'hello',
    input: {},
    sessionFolder: '/nonexistent',
    stateDir: '/nonexistent',
    texts: noTexts,
    state: undefined,
    signal: new AbortController().signal,
    holdsLease: () => true,
    ...rest,
    agent,
    settings: agent.settings,
  });
}

function inputOf(answers: Start['answers'], isContinued = false): LegInput {
  const given = new Map(Object.entries(answers ?? {}));
  if (isContinued) {
    return { kind: 'continue', reason: 'worker_lost', answers: given, calls: new Map() };
  }
  return answers === undefined ? { kind: 'prompt' } : { kind: 'resume', answers: given };
}

export async function collect(leg: Leg): Promise<HarnessEvent[]> {
  const events: HarnessEvent[] = [];
  for await (const event of leg) events.push(event);
  return events;
}

export async function play(request: Start): Promise<HarnessEvent[]> {
  return collect(start(request));
}

/** The checkpoint as a new process would read it: through JSON. */
export function stateOf(events: readonly HarnessEvent[]): Json {
  const checkpoint = events.findLast((event) => event.type === 'checkpoint');
  return JSON.parse(JSON.stringify(checkpoint?.state));
}

export function textOf(events: readonly HarnessEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.text : '')).join('');
}

export const allow = (input: Json): Answer => ({ kind: 'permission', allow: true, input });
export const deny: Answer = { kind: 'permission', allow: false };
export const say = (...values: string[]): Answer => ({ kind: 'question', values });
