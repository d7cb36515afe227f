import { dirname } from 'node:path';
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
import { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedSpeech } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { resolveEquipment } from '../resolve-equipment.ts';
import { interactionEvents } from './approvals.ts';
import { hideSecrets, writeUnsetScript } from './hide-secrets.ts';
import { MessageCalls } from './message-calls.ts';
import { MessageTranslator, type Translation } from './message-translator.ts';
import { readMessage } from './messages.ts';
import { type SpawnCall, queryOptions } from './options.ts';
import { PermissionHook } from './permission-hook.ts';
import { ClaudeProcess } from './process.ts';
import type { ClaudeSdk, Query } from './sdk.ts';
import type { ClaudeSettings } from './settings.ts';
import { stateOf } from './state.ts';

/** Time for Claude to store its session after the result. */
const shutdownMs = 10_000;
/** If Claude has not repeated a deferred call by then, it has none. */
const settleMs = 20_000;
const eventsHeldMax = 1024;

export interface ClaudeParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly load: () => Promise<ClaudeSdk>;
}

/** One leg is one process of Claude, from a prompt or an answer to its result. */
export class ClaudeLeg implements Leg {
  readonly #parts: ClaudeParts;
  readonly #input: LegInput;
  readonly #context: LegContext<ClaudeSettings>;
  readonly #queue = new EventQueue();
  readonly #abort = new AbortController();
  /** Resolved when no more input will be sent to Claude. */
  readonly #done = Promise.withResolvers<void>();
  /** Resolved when the deferred call of an earlier run, if any, has been refused. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #permissionHook: PermissionHook;
  readonly #translator: MessageTranslator;
  #redact = redactor([]);
  #unsetScript = '';
  #process: ClaudeProcess | undefined;
  #query: Query | undefined;
  #running: Promise<void> | undefined;
  #isSettling: boolean;
  #isCancelled = false;

  constructor(parts: ClaudeParts, input: LegInput, context: LegContext<ClaudeSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    const calls = new MessageCalls(parts.clock);
    const deferred = stateOf(context.state)?.deferred ?? null;
    this.#isSettling = input.kind === 'prompt' && deferred !== null;
    if (!this.#isSettling) this.#settled.resolve();
    this.#permissionHook = new PermissionHook({
      agent: context.agent,
      settings: context.settings,
      calls,
      deferred: deferred ?? undefined,
      answers: input.kind === 'resume' ? input.answers : undefined,
      emit: (event) => this.#emit(event),
      holdsLease: context.holdsLease,
    });
    this.#translator = new MessageTranslator({
      agent: context.agent,
      permissionHook: this.#permissionHook,
      calls,
      deferred,
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#running = this.#run().then((end) => this.#emit(end));
    try {
      yield* redactedSpeech(this.#queue, () => this.#redact);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async answer(ref: string, answer: Answer): Promise<boolean> {
    return this.#permissionHook.answer(ref, answer);
  }

  async cancel(): Promise<void> {
    if (this.#isCancelled || this.#queue.isEnded) return;
    this.#isCancelled = true;
    this.#permissionHook.close();
    // Fails when there is nothing to interrupt; the process still ends when its input ends.
    await this.#query?.interrupt().catch(() => undefined);
    this.#finish();
  }

  async redact(text: string): Promise<string> {
    return this.#redact(text);
  }

  async kill(): Promise<void> {
    this.#isCancelled = true;
    this.#permissionHook.close();
    this.#finish();
    this.#emit({ type: 'end', outcome: 'cancelled' });
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
      throw new LegFailure('agent_error', 'The run has no deferred call to resume.');
    }
    const sdk = await this.#parts.load();
    const { redact, ...equipment } = await resolveEquipment(given);
    this.#redact = redact;
    const { env, mcpServers, secretNames } = hideSecrets(given, equipment);
    this.#unsetScript = await writeUnsetScript(this.#context.stateDir, secretNames);
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    const settings = { ...given, mcpServers, env: { ...env, CLAUDE_ENV_FILE: this.#unsetScript } };
    const options = queryOptions({
      context: this.#context,
      settings,
      permissionHook: this.#permissionHook,
      session: known?.session,
      abort: this.#abort,
      spawn: (call) => this.#spawn(call, settings),
    });
    this.#query = sdk.query({ prompt: this.#prompts(), options });
    const deferredId = known?.deferred?.id ?? '';
    this.#parts.clock.after(settleMs, () => {
      if (this.#isSettling && !this.#permissionHook.hasDecided(deferredId)) this.#endSettling();
    });
    return this.#listen(this.#query);
  }

  async #listen(query: Query): Promise<LegEnd> {
    let end: LegEnd | undefined;
    try {
      for await (const message of query) {
        end ??= await this.#onMessage(message);
        if (this.#queue.size >= eventsHeldMax) await this.#queue.drained();
      }
    } catch (error) {
      // The SDK throws again for a result that is an error.
      if (end === undefined) throw error;
    }
    return end ?? new LegFailure('agent_error', 'Claude ended without a result.').end;
  }

  /** Input for Claude: the prompt, or nothing when a deferred call resumes. */
  async *#prompts(): AsyncGenerator<unknown, void> {
    await this.#settled.promise;
    if (this.#input.kind === 'prompt' && !this.#isCancelled) {
      const { prompt } = this.#context;
      const message = { role: 'user', content: [{ type: 'text', text: prompt }] };
      yield { type: 'user', message, parent_tool_use_id: null };
    }
    await this.#done.promise;
  }

  async #onMessage(given: unknown): Promise<LegEnd | undefined> {
    const message = readMessage(given);
    if (message === undefined) return undefined;
    const translation = this.#translator.translate(message);
    if (this.#isSettling) return this.#settle(translation);
    for (const event of translation.events) this.#emit(event);
    if (translation.result === undefined) return undefined;
    const { session, end, deferred } = translation.result;
    const run = this.#context.runId;
    if (deferred !== undefined) for (const event of interactionEvents(deferred)) this.#emit(event);
    const waiting = deferred === undefined ? null : { run, ...deferred };
    this.#emit({ type: 'checkpoint', state: { session, deferred: waiting } });
    this.#done.resolve();
    this.#parts.clock.after(shutdownMs, () => void this.#process?.end());
    return end;
  }

  /**
   * Claude first repeats the call that a cancelled run deferred. It is refused, and Claude's response to that is not
   * part of this run.
   */
  #settle({ result, events }: Translation): undefined {
    for (const event of events) if (event.type === 'usage') this.#emit(event);
    if (result === undefined) return;
    this.#emit({ type: 'checkpoint', state: { session: result.session, deferred: null } });
    this.#endSettling();
  }

  #endSettling(): void {
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
        readOnly: [dirname(command), this.#unsetScript],
        env: Object.fromEntries(given),
        limits: settings.limits,
      }),
    );
    return this.#process;
  }

  #emit(event: HarnessEvent): void {
    this.#queue.push(redactedEvent(event, this.#redact));
  }

  async #failed(error: unknown): Promise<LegEnd> {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    const child = await this.#process?.started.catch((reason: unknown) => reason);
    if (child instanceof SandboxUnavailable) {
      return new LegFailure('sandbox_unavailable', child.message).end;
    }
    const message = error instanceof Error ? error.message : 'unknown error';
    const errors = isProcess(child) ? child.errorOutput().trim().slice(-400) : '';
    return new LegFailure('agent_error', `Claude ended unexpectedly: ${message}. ${errors}`.trim())
      .end;
  }
}

function isProcess(child: unknown): child is SandboxedProcess {
  return typeof child === 'object' && child !== null && 'errorOutput' in child;
}
