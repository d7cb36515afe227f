// The usual calls of a backend, as steps of checks.
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import type { Dialect } from './dialect.ts';
import { Failure, ensure, excerpt, isRecord } from './failure.ts';
import { at, fill, listAt, textAt } from './fields.ts';
import type { Frame } from './frames.ts';
import { hasStatus } from './server.ts';

const pollMs = 50;
const patienceMs = 45_000;
const reconnectsMax = 100;
/** In the stream of a run that has ended, all of which is there to be sent. */
const quietMs = 5_000;

export const terminalTypes: readonly string[] = ['run_completed', 'run_cancelled', 'error'];

export interface RunAt {
  readonly sessionId: string;
  readonly runId: string;
}

export function sessionPath(sessionId: string, rest = ''): string {
  return `/v1/sessions/${sessionId}${rest}`;
}

export function runPath({ sessionId, runId }: RunAt, rest = ''): string {
  return `/v1/sessions/${sessionId}/runs/${runId}${rest}`;
}

export function isTerminal({ data }: Frame): boolean {
  return terminalTypes.includes(String(at(data, 'type')));
}

export function typeOf({ data }: Frame): string {
  return String(at(data, 'type'));
}

/** Polls until the condition holds; the failure names the condition. */
export async function waitFor(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Failure(`not within ${patienceMs / 1000} s: ${what}`);
    await pause(pollMs);
  }
}

export class Steps {
  readonly caller: Caller;
  /** The sessions that were opened. */
  readonly opened: string[] = [];
  readonly #dialect: Dialect;

  constructor(caller: Caller, dialect: Dialect) {
    this.caller = caller;
    this.#dialect = dialect;
  }

  async openSession(agentName: string): Promise<string> {
    const reply = await this.caller.post('/v1/sessions', { agent_name: agentName });
    const id = textAt(hasStatus(reply, 200, 201).body, 'id');
    this.opened.push(id);
    return id;
  }

  input(prompt: string): unknown {
    return fill(this.#dialect.run.input, { prompt });
  }

  async startRun(sessionId: string, prompt = 'Hello'): Promise<RunAt> {
    const body = { input: this.input(prompt) };
    const reply = await this.caller.post(sessionPath(sessionId, '/runs'), body);
    return { sessionId, runId: textAt(hasStatus(reply, 200, 201, 202).body, 'id') };
  }

  async begin(agentName: string, prompt?: string): Promise<RunAt> {
    return await this.startRun(await this.openSession(agentName), prompt);
  }

  async run(run: RunAt): Promise<unknown> {
    return hasStatus(await this.caller.get(runPath(run)), 200).body;
  }

  async hasEnded(run: RunAt): Promise<boolean> {
    const { completed, failed, cancelled } = this.#dialect.run;
    return [completed, failed, cancelled].includes(textAt(await this.run(run), 'status'));
  }

  /** Opens the stream once; the caller decides when it has seen enough. */
  async open(run: RunAt, after?: string): ReturnType<Caller['stream']> {
    const headers = after === undefined ? {} : { 'last-event-id': after };
    return await this.caller.stream({ method: 'GET', path: runPath(run, '/events'), headers });
  }

  /**
   * The frames up to the first that `until` accepts, or to the terminal one. Reconnects as rule 3 of section 6 says.
   */
  async follow(
    run: RunAt,
    until: (frame: Frame) => boolean = isTerminal,
    after?: string,
  ): Promise<Frame[]> {
    const found: Frame[] = [];
    for (let connects = 0; connects < reconnectsMax; connects += 1) {
      const { reply, frames } = await this.open(run, found.at(-1)?.id ?? after);
      // 204 is a service's way to say that there is nothing more.
      if (reply.status === 204) return found;
      hasStatus(reply, 200);
      for await (const frame of frames) {
        found.push(frame);
        if (until(frame) || isTerminal(frame)) return found;
      }
      if (await this.hasEnded(run)) return await this.#rest(run, found);
    }
    throw new Failure(`${runPath(run, '/events')} was closed ${reconnectsMax} times`);
  }

  /** The run ended while the stream was closed: one more connection returns the remaining events. */
  async #rest(run: RunAt, found: Frame[]): Promise<Frame[]> {
    const { reply, frames } = await this.open(run, found.at(-1)?.id);
    if (reply.status === 204) return found;
    hasStatus(reply, 200);
    for await (const frame of frames) found.push(frame);
    return found;
  }

  /** All frames of a run that has ended, including any after the terminal one: reads until the service has no more. */
  async whole(run: RunAt): Promise<Frame[]> {
    const found: Frame[] = [];
    for (let connects = 0; connects < reconnectsMax; connects += 1) {
      const { reply, frames } = await this.open(run, found.at(-1)?.id);
      if (reply.status === 204) return found;
      hasStatus(reply, 200);
      const more = await untilClosed(frames);
      if (more.length === 0) return found;
      found.push(...more);
    }
    throw new Failure(`${runPath(run, '/events')} has new frames after ${reconnectsMax} times`);
  }

  /** Follows until an event of the type; fails if the run ends before. */
  async until(run: RunAt, type: string): Promise<Frame[]> {
    const frames = await this.follow(run, (frame) => typeOf(frame) === type);
    const types = frames.map(typeOf);
    ensure(types.at(-1) === type, `expected ${type}, the run has ${types.join(', ')}`);
    return frames;
  }

  async pending(sessionId: string): Promise<readonly unknown[]> {
    const reply = await this.caller.get(sessionPath(sessionId, '/interactions'));
    return listAt(hasStatus(reply, 200).body, this.#dialect.interaction.list);
  }

  /** The one interaction that waits, as rule 6 of section 6 has a client find it. */
  async pendingKey(sessionId: string): Promise<string> {
    const list = await this.pending(sessionId);
    ensure(list.length === 1, `expected one pending interaction, got ${excerpt(list)}`);
    return textAt(list[0], 'interaction_key');
  }

  async answer(sessionId: string, key: string, body: unknown): ReturnType<Caller['post']> {
    return await this.caller.post(sessionPath(sessionId, `/interactions/${key}/answer`), body);
  }
}

/** The frames until the service closes the stream, or is silent on one that it keeps open. */
async function untilClosed(frames: AsyncGenerator<Frame>): Promise<Frame[]> {
  const found: Frame[] = [];
  for (;;) {
    const quiet = new AbortController();
    const silence = pause(quietMs, undefined, { signal: quiet.signal }).catch(() => undefined);
    const next = await Promise.race([frames.next(), silence]);
    quiet.abort();
    if (next === undefined) {
      // Ends with the connection, which the kit closes at its end.
      frames.return(undefined).catch(() => {});
      return found;
    }
    if (next.done === true) return found;
    found.push(next.value);
  }
}

export function dataOf(frame: Frame | undefined): Readonly<Record<string, unknown>> {
  const data = at(frame?.data, 'data');
  ensure(isRecord(data), `data of an event is to be an object in ${excerpt(frame?.raw)}`);
  return data;
}

export function firstOf(frames: readonly Frame[], type: string): Frame {
  const frame = frames.find((each) => typeOf(each) === type);
  ensure(frame !== undefined, `expected ${type}, the run has ${frames.map(typeOf).join(', ')}`);
  return frame;
}
