import { dirname } from 'node:path';
import { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedSpeech } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { resolveEquipment } from '../resolve-equipment.ts';
import { redactor } from '../../agents/secret-references.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Answer,
  HarnessEvent,
  Leg,
  LegContext,
  LegEnd,
  LegInput,
} from '../../ports/harness.ts';
import type { Log } from '../../ports/log.ts';
import { type Sandbox, SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { Gate, requestsFor } from './permission-hook.ts';
import { readMessage } from './messages.ts';
import { type SpawnCall, queryOptions } from './options.ts';
import { ClaudeProcess } from './process.ts';
import type { ClaudeSdk, Query } from './sdk.ts';
import type { ClaudeSettings } from './settings.ts';
import { stateOf } from './state.ts';
import { MessageTranslator, type Translation } from './message-translator.ts';
import { TurnWatch } from './message-calls.ts';
import { hideSecrets, writeForgetting } from './hide-secrets.ts';

/** What Claude gets to write down its session once it is done. */
const farewellMs = 10_000;
/** By then Claude has brought up a call that was left waiting, or it knows of none. */
const settleMs = 20_000;
const eventsHeldMax = 1024;

export interface ClaudeParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly load: () => Promise<ClaudeSdk>;
}

/** One leg: one process of Claude's, from a prompt or an answer to where it stops. */
export class ClaudeLeg implements Leg {
  readonly #parts: ClaudeParts;
  readonly #input: LegInput;
  readonly #context: LegContext<ClaudeSettings>;
  readonly #queue = new EventQueue();
  readonly #abort = new AbortController();
  /** Resolved when nothing more will be said to Claude. */
  readonly #done = Promise.withResolvers<void>();
  /** Resolved when no call of an earlier run is left. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #gate: Gate;
  readonly #telling: MessageTranslator;
  #redact = redactor([]);
  #forgetting = '';
  #process: ClaudeProcess | undefined;
  #query: Query | undefined;
  #running: Promise<void> | undefined;
  #isSettling: boolean;
  #isCancelled = false;

  constructor(parts: ClaudeParts, input: LegInput, context: LegContext<ClaudeSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    const watch = new TurnWatch(parts.clock);
    const deferred = stateOf(context.state)?.deferred ?? null;
    this.#isSettling = input.kind === 'prompt' && deferred !== null;
    if (!this.#isSettling) this.#settled.resolve();
    this.#gate = new Gate({
      agent: context.agent,
      settings: context.settings,
      watch,
      deferred: deferred ?? undefined,
      answers: input.kind === 'resume' ? input.answers : undefined,
      tell: (event) => this.#tell(event),
      holdsLease: context.holdsLease,
    });
    this.#telling = new MessageTranslator({
      agent: context.agent,
      gate: this.#gate,
      watch,
      deferred,
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#running = this.#run().then((end) => this.#tell(end));
    try {
      yield* redactedSpeech(this.#queue, () => this.#redact);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    return this.#gate.answer(ref, answer);
  }

  async cancel(): Promise<void> {
    if (this.#isCancelled || this.#queue.isEnded) return;
    this.#isCancelled = true;
    this.#gate.close();
    // An interrupt that finds nothing to interrupt fails; the process ends with its input all the same.
    await this.#query?.interrupt().catch(() => undefined);
    this.#finish();
  }

  async kill(): Promise<void> {
    this.#isCancelled = true;
    this.#gate.close();
    this.#finish();
    this.#tell({ type: 'end', outcome: 'cancelled' });
    this.#abort.abort();
    await this.#process?.end();
    await this.#running;
  }

  async #run(): Promise<LegEnd> {
    try {
      const end = await this.#converse();
      return this.#isCancelled ? { type: 'end', outcome: 'cancelled' } : end;
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#finish();
      await this.#process?.end();
    }
  }

  #finish(): void {
    this.#done.resolve();
    this.#settled.resolve();
  }

  async #converse(): Promise<LegEnd> {
    const { settings: given, state } = this.#context;
    const known = stateOf(state);
    if (this.#input.kind === 'resume' && known?.deferred?.run !== this.#context.runId) {
      throw new LegFailure('agent_error', 'The run has no call of its own to go on from.');
    }
    const sdk = await this.#parts.load();
    const { redact, ...equipment } = await resolveEquipment(given);
    this.#redact = redact;
    const { env, mcpServers, secretNames } = hideSecrets(given, equipment);
    this.#forgetting = await writeForgetting(this.#context.stateDir, secretNames);
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    const settings = { ...given, mcpServers, env: { ...env, CLAUDE_ENV_FILE: this.#forgetting } };
    const options = queryOptions({
      context: this.#context,
      settings,
      gate: this.#gate,
      session: known?.session,
      abort: this.#abort,
      spawn: (call) => this.#spawn(call, settings),
    });
    this.#query = sdk.query({ prompt: this.#prompts(), options });
    const left = known?.deferred?.id ?? '';
    this.#parts.clock.after(settleMs, () => {
      if (this.#isSettling && !this.#gate.hasJudged(left)) this.#settleDown();
    });
    return this.#listen(this.#query);
  }

  async #listen(query: Query): Promise<LegEnd> {
    let end: LegEnd | undefined;
    try {
      for await (const message of query) {
        end ??= await this.#take(message);
        if (this.#queue.size >= eventsHeldMax) await this.#queue.drained();
      }
    } catch (error) {
      // A result that is an error is thrown once more, in other words.
      if (end === undefined) throw error;
    }
    return end ?? new LegFailure('agent_error', 'Claude ended without a result.').end;
  }

  /** What is said to Claude: the prompt, or nothing when a call that waited is to go on. */
  async *#prompts(): AsyncGenerator<unknown, void> {
    await this.#settled.promise;
    if (this.#input.kind === 'prompt' && !this.#isCancelled) {
      const { prompt } = this.#context;
      const message = { role: 'user', content: [{ type: 'text', text: prompt }] };
      yield { type: 'user', message, parent_tool_use_id: null };
    }
    await this.#done.promise;
  }

  async #take(given: unknown): Promise<LegEnd | undefined> {
    const message = readMessage(given);
    if (message === undefined) return undefined;
    const told = this.#telling.take(message);
    if (this.#isSettling) return this.#settle(told);
    for (const event of told.events) this.#tell(event);
    if (told.result === undefined) return undefined;
    const { session, end, deferred } = told.result;
    const run = this.#context.runId;
    if (deferred !== undefined) for (const event of requestsFor(deferred)) this.#tell(event);
    const waiting = deferred === undefined ? null : { run, ...deferred };
    this.#tell({ type: 'checkpoint', state: { session, deferred: waiting } });
    this.#done.resolve();
    this.#parts.clock.after(farewellMs, () => void this.#process?.end());
    return end;
  }

  /**
   * A call that a cancelled run left waiting comes up before anything else. It is refused, and what Claude has to say
   * about that is no part of this run.
   */
  #settle({ result, events }: Translation): undefined {
    for (const event of events) if (event.type === 'usage') this.#tell(event);
    if (result === undefined) return;
    this.#tell({ type: 'checkpoint', state: { session: result.session, deferred: null } });
    this.#settleDown();
  }

  #settleDown(): void {
    this.#isSettling = false;
    this.#settled.resolve();
  }

  #spawn({ command, args, env }: SpawnCall, settings: ClaudeSettings): ClaudeProcess {
    const { sandbox } = this.#parts;
    const { sessionFolder, stateDir, agent } = this.#context;
    const given = Object.entries(env).filter((entry): entry is [string, string] => {
      return entry[1] !== undefined;
    });
    this.#process = new ClaudeProcess(() =>
      sandbox.spawn([command, ...args], {
        ...settings.sandbox,
        sessionFolder,
        home: stateDir,
        folder: agent.folder,
        readOnly: [dirname(command), this.#forgetting],
        env: Object.fromEntries(given),
        limits: settings.limits,
      }),
    );
    return this.#process;
  }

  #tell(event: HarnessEvent): void {
    this.#queue.push(redactedEvent(event, this.#redact));
  }

  async #failed(error: unknown): Promise<LegEnd> {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    const child = await this.#process?.started.catch((reason: unknown) => reason);
    if (child instanceof SandboxUnavailable) {
      return new LegFailure('sandbox_unavailable', child.message).end;
    }
    const message = error instanceof Error ? error.message : 'an unknown fault';
    const said = isProcess(child) ? child.errorOutput().trim().slice(-400) : '';
    return new LegFailure('agent_error', `Claude broke off: ${message}. ${said}`.trim()).end;
  }
}

function isProcess(child: unknown): child is SandboxedProcess {
  return typeof child === 'object' && child !== null && 'errorOutput' in child;
}
