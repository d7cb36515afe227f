import { chown, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId, sessionId } from '@convoke/contract';
import { removeFolder } from '../../../../test/remove-folder.ts';
import type { Agent } from '../../src/domain/agent.ts';
import type { ContextTexts } from '../../src/domain/context.ts';
import type { Json } from '../../src/domain/json.ts';
import type { KnownCall } from '../../src/domain/run/tool-call.ts';
import type {
  Answer,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegInput,
} from '../../src/ports/harness.ts';
import type { Sandbox, SandboxMode } from '../../src/ports/sandbox.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';
import { noTexts, readBy, recordingLog } from '../support/agent-folders.ts';
import { ruledEffects } from '../support/effects.ts';

export type Asked = Extract<HarnessEvent, { type: 'permission_request' | 'user_question' }>;

/** A sandbox on a temporary folder, with folders for sessions. */
export class SandboxPlace {
  readonly folder: string;
  readonly sandbox: Sandbox;

  constructor(folder: string, sandbox: Sandbox) {
    this.folder = folder;
    this.sandbox = sandbox;
  }

  static async open(mode: SandboxMode = 'auto'): Promise<SandboxPlace> {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-place-'));
    const parts = { clock: systemClock, log: recordingLog(), dataDir: folder };
    return new SandboxPlace(folder, await openSandbox({ mode, ...parts }));
  }

  async session(name: string): Promise<{ sessionFolder: string; stateDir: string }> {
    const places = [join(this.folder, name, 'workspace'), join(this.folder, name, 'home')] as const;
    for (const place of places) {
      await mkdir(place, { recursive: true });
      const { account } = this.sandbox;
      if (account !== undefined) await chown(place, account.uid, account.gid);
    }
    return { sessionFolder: places[0], stateDir: places[1] };
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await removeFolder(this.folder);
  }
}

export interface Said {
  readonly events: readonly HarnessEvent[];
  readonly text: string;
  readonly end: HarnessEvent | undefined;
  readonly asked: readonly Asked[];
  custom(name: string): readonly Json[];
}

/** One session with one agent, run after run. Checkpoints go through JSON, as in the database. */
export class Sitting {
  readonly harness: Harness;
  readonly #context: Omit<LegContext, 'runId' | 'runNumber' | 'prompt' | 'signal' | 'effects'>;
  readonly #abort = new Map<Leg, AbortController>();
  #state: Json | undefined;
  #runs = 0;

  constructor(
    harness: Harness,
    place: {
      name: string;
      agent: Agent;
      sessionFolder: string;
      stateDir: string;
      texts?: ContextTexts;
    },
  ) {
    this.harness = harness;
    const { name, sessionFolder, stateDir, texts = noTexts } = place;
    const agent = readBy(harness, place.agent);
    const id = sessionId(`sess_${name}`);
    const holdsLease = () => true;
    const own = { sessionId: id, agent, settings: agent.settings, sessionFolder, stateDir, texts };
    this.#context = { ...own, input: {}, state: undefined, holdsLease };
  }

  get state(): Json | undefined {
    return this.#state;
  }

  async release(): Promise<void> {
    await this.harness.release?.(this.#context.sessionId);
  }

  /** The same session on another harness, as after a restart; on another machine its folders are elsewhere. */
  movedTo(
    harness: Harness,
    agent = this.#context.agent,
    { sessionFolder, stateDir }: Pick<LegContext, 'sessionFolder' | 'stateDir'> = this.#context,
  ): Sitting {
    const { sessionId: id, texts } = this.#context;
    const places = { sessionFolder, stateDir, texts };
    const moved = new Sitting(harness, { name: id.slice(5), agent, ...places });
    moved.#state = this.#state;
    moved.#runs = this.#runs;
    return moved;
  }

  start(prompt: string, answers?: ReadonlyMap<string, Answer>): Leg {
    return this.#start(
      answers === undefined ? { kind: 'prompt' } : { kind: 'resume', answers },
      prompt,
    );
  }

  /** A leg that continues after its worker was lost, or was asked to yield, from the last checkpoint. */
  goOn(
    prompt = '',
    calls: Readonly<Record<string, KnownCall>> = {},
    answers: ReadonlyMap<string, Answer> = new Map(),
  ): Leg {
    const known = new Map(Object.entries(calls));
    return this.#start({ kind: 'continue', reason: 'worker_lost', answers, calls: known }, prompt);
  }

  /** A leg that continues after the one before has yielded. */
  takeOver(prompt: string): Leg {
    const known = { answers: new Map(), calls: new Map() };
    return this.#start({ kind: 'continue', reason: 'drained', ...known }, prompt);
  }

  #start(input: LegInput, prompt: string): Leg {
    if (input.kind === 'prompt') this.#runs += 1;
    const abort = new AbortController();
    const leg = this.harness.start(input, {
      ...this.#context,
      effects: ruledEffects(this.#context.agent, input),
      runId: runId(`run_${this.#runs}`),
      runNumber: this.#runs,
      prompt,
      state: this.#state,
      signal: abort.signal,
    });
    this.#abort.set(leg, abort);
    return leg;
  }

  /** Cancels a leg as the supervisor does. */
  async cancel(leg: Leg): Promise<void> {
    this.#abort.get(leg)?.abort();
    await leg.cancel();
  }

  /**
   * Reads a leg until it ends. `onAsked` returns the answer for a running leg; without one the leg waits. `onEvent`
   * gets every event.
   */
  async hear(
    leg: Leg,
    listening: {
      onAsked?: (asked: Asked) => Answer | undefined;
      onEvent?: (event: HarnessEvent) => unknown;
    } = {},
  ): Promise<Said> {
    const events: HarnessEvent[] = [];
    for await (const event of leg) {
      events.push(event);
      const state = stateIn(event);
      if (state !== undefined) this.#state = JSON.parse(JSON.stringify(state));
      await listening.onEvent?.(event);
      if (event.type !== 'permission_request' && event.type !== 'user_question') continue;
      const answer = listening.onAsked?.(event);
      if (answer !== undefined) await leg.answer(event.ref, answer);
    }
    return said(events);
  }

  async say(prompt: string, onAsked?: (asked: Asked) => Answer | undefined): Promise<Said> {
    return this.hear(this.start(prompt), onAsked === undefined ? {} : { onAsked });
  }
}

/** The checkpoint that an event holds: a leg may also give one with its end. */
export function stateIn(event: HarnessEvent): Json | undefined {
  if (event.type === 'message_delta') return event.point;
  return event.type === 'checkpoint' || event.type === 'end' ? event.state : undefined;
}

function said(events: readonly HarnessEvent[]): Said {
  const isAsked = (event: HarnessEvent): event is Asked =>
    event.type === 'permission_request' || event.type === 'user_question';
  return {
    events,
    text: events.map((event) => (event.type === 'message_delta' ? event.text : '')).join(''),
    end: events.at(-1),
    asked: events.filter(isAsked),
    custom: (name) =>
      events.flatMap((event) =>
        event.type === 'custom' && event.name === name ? [event.data] : [],
      ),
  };
}

export function allowing(asked: Asked): Answer {
  return asked.type === 'permission_request'
    ? { kind: 'permission', allow: true, input: asked.toolInput }
    : { kind: 'question', values: [asked.options?.[0]?.label ?? 'yes'] };
}

export const denying: Answer = { kind: 'permission', allow: false, reason: 'not today' };
