import type { RunId, SessionId, TenantId } from '@convoke/contract';
import type { Agent } from '../../domain/agent.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { acceptedPrompt } from '../../domain/run/run-input.ts';
import type { ShowOutput } from '../../harness/stdio/shown-output.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Answer,
  Effects,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegEnd,
} from '../../ports/harness.ts';
import type { SessionFolders } from '../../ports/session-folders.ts';
import { filesIn } from './folder-files.ts';
import {
  type Coming,
  type RehearsedInteraction,
  type Reading,
  RehearsedRun,
} from './rehearsed-run.ts';
import type { EndedWait, Outside, RehearsedComings } from './rehearsed-waits.ts';

/** Where runs are rehearsed. */
export interface Stage {
  readonly agent: Agent;
  readonly harness: Harness;
  readonly folders: SessionFolders;
  readonly clock: Clock;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** Where the lines go that the program prints; nowhere in a run that is not shown (D-428). */
  readonly output: { show?: ShowOutput | undefined };
}

/** What happens while a run is rehearsed. */
export type RehearsedEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly input: Json }
  | { readonly type: 'result'; readonly name: string; readonly ok: boolean; readonly output: Json }
  | { readonly type: 'custom'; readonly name: string; readonly data: JsonObject }
  | ({ readonly type: 'waited' } & EndedWait)
  | { readonly type: 'printed'; readonly agent: string; readonly line: string };

export interface PlayOptions extends Partial<RehearsedComings>, Outside {
  /** Has passed the schema of the agent. */
  readonly input: JsonObject;
  /** Rejects if there is no answer: the rehearsal is over then. */
  readonly answer: (asked: RehearsedInteraction) => Promise<Answer>;
  readonly show?: (event: RehearsedEvent) => void;
  /** Ends the rehearsal and every process of it. */
  readonly signal: AbortSignal;
}

/** A moment at which something happens to the program: before or after one of its lines is durable. */
export interface KillPoint {
  /** The line, counted from 0 over all legs. */
  readonly line: number;
  readonly fate: 'killed before' | 'killed after' | 'handed over after';
}

export interface PlayedRun {
  readonly run: RehearsedRun;
  /** What each line of the program was. */
  readonly lines: readonly string[];
  /** Digests of the files in the session folder, by path; undefined where there are too many. */
  readonly files: ReadonlyMap<string, string> | undefined;
}

const legsMax = 1000;
/** A program has this long to end when its rehearsal is stopped. */
const stopGraceMs = 2000;
const linesMax = 100_000;

export interface Disturbance {
  readonly come?: Coming;
  readonly killPoint?: KillPoint;
  readonly reading?: Reading;
}

/** Rehearses one run in a new session folder. With a kill point, its process is killed or drained there. */
export async function playRun(
  stage: Stage,
  options: PlayOptions,
  { come = 'one', ...disturbed }: Disturbance = {},
): Promise<PlayedRun> {
  const { agent, folders, harness, tenantId, sessionId } = stage;
  const run = new RehearsedRun(agent, harness, options);
  const lines: string[] = [];
  const { show } = options;
  stage.output.show = show && ((name, line) => show({ type: 'printed', agent: name, line }));
  try {
    const owner = { tenantId, sessionId, agent, files: [] };
    const folder = await folders.prepare({ ...owner, expected: false });
    if (!folder.found) throw new Error('The session folder could not be created.');
    const fateOf = (line: string): KillPoint['fate'] | undefined => {
      lines.push(line);
      const { killPoint } = disturbed;
      return killPoint?.line === lines.length - 1 ? killPoint.fate : undefined;
    };
    let told = 0;
    const tellWaits = () => {
      for (const over of run.waits.slice(told)) show?.({ type: 'waited', ...over });
      told = run.waits.length;
    };
    while (run.end === undefined) {
      if (run.legs >= legsMax) throw new Error(`The run has not ended after ${legsMax} legs.`);
      const leg = new PlayedLeg({ stage, run, options, fateOf });
      const end = await leg.play(folder);
      options.signal.throwIfAborted();
      // A rehearsal without kills never reports a loss.
      if (end === 'lost') run.lose(disturbed.reading ?? 'done');
      else if (run.end === undefined) run.endLeg(end);
      if (run.end === undefined) await answerAll(run, options, come);
      tellWaits();
    }
    return { run, lines, files: await filesIn(folder.sessionFolder) };
  } finally {
    await harness.release?.(sessionId);
    await folders.remove(tenantId, sessionId);
  }
}

/** Time passes only where there was no person to ask. */
async function answerAll(run: RehearsedRun, options: PlayOptions, come: Coming): Promise<void> {
  const hasAsked = run.open.size > 0;
  for (const [ref, asked] of run.open) run.answer(ref, await options.answer(asked));
  if (!hasAsked) await run.letCome(come, options);
}

interface LegParts {
  readonly stage: Stage;
  readonly run: RehearsedRun;
  readonly options: PlayOptions;
  readonly fateOf: (line: string) => KillPoint['fate'] | undefined;
}

/** One leg, in a real process. */
class PlayedLeg {
  readonly #parts: LegParts;
  #leg: Leg | undefined;
  #isLost = false;
  #lines = 0;

  constructor(parts: LegParts) {
    this.#parts = parts;
  }

  async play(folder: {
    readonly sessionFolder: string;
    readonly stateDir: string;
  }): Promise<LegEnd | 'lost'> {
    const { stage, run, options } = this.#parts;
    const { agent, harness, runId, sessionId, clock } = stage;
    const input = run.beginLeg();
    const context: LegContext = {
      runId,
      sessionId,
      agent,
      settings: agent.settings,
      runNumber: 1,
      prompt: acceptedPrompt(options.input),
      input: options.input,
      sessionFolder: folder.sessionFolder,
      stateDir: folder.stateDir,
      texts: { files: [], skills: [] },
      state: run.state,
      signal: options.signal,
      holdsLease: () => !this.#isLost,
      effects: this.#effects(),
      // No server takes these.
      callbacks: () => ({ url: `https://convoke.example/v1/callbacks/${runId}`, key: '' }),
    };
    const leg = harness.start(input, context);
    this.#leg = leg;
    const { runSeconds } = agent.limits;
    let isLate = false;
    const clearTimer = clock.after(runSeconds * 1000, () => {
      isLate = true;
      leg.kill().catch(() => undefined);
    });
    // A program in an endless loop does not hear that it shall stop.
    let clearStop = () => {};
    const stop = () => {
      clearStop = clock.after(stopGraceMs, () => {
        leg.kill().catch(() => undefined);
      });
    };
    options.signal.addEventListener('abort', stop, { once: true });
    try {
      const end = await this.#follow(leg);
      if (isLate) return failed(`A leg took more than ${runSeconds} s (limits.run_seconds).`);
      return end;
    } finally {
      clearTimer();
      clearStop();
      options.signal.removeEventListener('abort', stop);
      // The next leg starts in a process of its own, as after a restart.
      await harness.release?.(sessionId);
    }
  }

  async #follow(leg: Leg): Promise<LegEnd | 'lost'> {
    const { run } = this.#parts;
    for await (const event of leg) {
      if (this.#isLost) break;
      if (event.type === 'end') {
        return (await this.#at(`end ${event.outcome}`, () => {})) ? event : 'lost';
      }
      if (this.#isShownCall(event)) continue;
      if (!(await this.#at(nameOf(event), () => this.#record(event)))) break;
      if (run.end !== undefined) return failed(run.end.message ?? '');
    }
    return this.#isLost ? 'lost' : failed('The program ended without an end.');
  }

  /** Writes one line of the program, unless it is lost before; returns whether it lives on. */
  async #at(line: string, write: () => void): Promise<boolean> {
    if (this.#isLost) return false;
    this.#lines += 1;
    if (this.#lines > linesMax) throw new Error(`a leg has more than ${linesMax} lines`);
    const fate = this.#parts.fateOf(line);
    if (fate !== 'killed before') write();
    if (fate === 'killed before' || fate === 'killed after') {
      this.#isLost = true;
      await this.#leg?.kill();
      return false;
    }
    if (fate === 'handed over after') await this.#leg?.yield?.();
    return true;
  }

  #effects(): Effects {
    const { run, stage } = this.#parts;
    return {
      begin: async (call) => {
        if (this.#isLost || !run.mayBegin(call.ref)) return { kind: 'left' };
        const { ref, toolName: name, input } = call;
        const decided = run.decide(call);
        const lives = await this.#at(`call_begin ${name}`, () => {
          if (decided.kind === 'allowed') run.beginCall(call);
          if (decided.kind === 'denied') run.denyCall(ref, decided.reason);
        });
        if (!lives) return { kind: 'left' };
        if (decided.kind !== 'allowed') return decided;
        run.tell(call);
        if (!this.#makesCallEvents) this.#show({ type: 'call', name, input });
        return { kind: 'begun' };
      },
      decide: async (call) => run.decide(call),
      end: async (ref, result, point) => {
        await this.#at(`call_end ${ref}`, () => run.endCall(ref, result, point));
        if (this.#makesCallEvents) return;
        this.#show({ type: 'result', name: ref, ok: result.ok, output: result.output });
      },
      key: (ref) => `${stage.runId}.${ref}`,
    };
  }

  /** The server itself makes events of their calls, so these are no lines of the program (D-160). */
  get #makesCallEvents(): boolean {
    return this.#parts.stage.agent.framework !== 'stdio';
  }

  #isShownCall(event: HarnessEvent): boolean {
    if (!this.#makesCallEvents || event.type !== 'custom') return false;
    const { name, data } = event;
    const of = typeof data['name'] === 'string' ? data['name'] : '';
    if (name === 'tool_call') {
      this.#show({ type: 'call', name: of, input: data['input'] ?? null });
      return true;
    }
    if (name !== 'tool_result') return false;
    const { ok, output = null } = data;
    this.#show({ type: 'result', name: of, ok: ok !== false, output });
    return true;
  }

  #record(event: Exclude<HarnessEvent, LegEnd>): void {
    this.#parts.run.record(event);
    if (event.type === 'message_delta') this.#show({ type: 'text', text: event.text });
    if (event.type !== 'custom') return;
    this.#show({ type: 'custom', name: event.name, data: event.data });
  }

  #show(event: RehearsedEvent): void {
    if (!this.#isLost) this.#parts.options.show?.(event);
  }
}

function nameOf(event: Exclude<HarnessEvent, LegEnd>): string {
  if (event.type === 'custom') return `custom ${event.name}`;
  if (event.type === 'permission_request') return `permission_request ${event.toolName}`;
  return event.type;
}

function failed(message: string): LegEnd {
  return { type: 'end', outcome: 'error', code: 'agent_error', message };
}
