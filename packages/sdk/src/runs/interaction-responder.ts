import { ConflictError, isTemporary } from '../errors.ts';
import type { InteractionRecord } from '../generated/records.ts';
import type { PermissionAnswer, QuestionDeclined, QuestionReply } from '../generated/requests.ts';
import type { Decision } from '../generated/values.ts';
import type { Answer, Interactions } from './interactions.ts';
import type { RunEvent } from './run-event.ts';
import { type RetryPolicy, pauseMs } from '../transport/retry.ts';
import { pause } from '../transport/waiting.ts';

export interface AskContext {
  /** Aborted when the interaction was answered elsewhere, or when the run is no longer followed. */
  readonly signal: AbortSignal;
}

/** Decides on a permission request; undefined leaves it pending. */
export type PermissionHandler = (
  request: InteractionRecord & { readonly kind: 'permission' },
  context: AskContext,
) => MaybeAnswer<Decision | PermissionAnswer>;

export type QuestionHandler = (
  question: InteractionRecord & { readonly kind: 'question' },
  context: AskContext,
) => MaybeAnswer<string | readonly string[] | QuestionReply | QuestionDeclined>;

type MaybeAnswer<T> = T | undefined | Promise<T | undefined>;

/** Is told of a permission request that other people have to decide on. */
export type WaitingHandler = (
  request: InteractionRecord & { readonly kind: 'permission' },
  context: AskContext,
) => void | Promise<void>;

export interface InteractionHandlers {
  /**
   * Is told of a tool call that the caller may not allow: `approvers` says who may. `onPermission` is not called for
   * it.
   */
  readonly onWaiting?: WaitingHandler | undefined;
  /** Decides on a tool call that requires approval: `'allow'`, `'deny'` or a complete answer. */
  readonly onPermission?: PermissionHandler | undefined;
  /** Answers a question: a text, several for a question with `multiple`, or a complete answer. */
  readonly onQuestion?: QuestionHandler | undefined;
}

interface ResponderParts {
  readonly runId: string;
  readonly interactions: Interactions;
  readonly handlers: InteractionHandlers;
  readonly retry: RetryPolicy;
  /** How long a service may be unreachable, as for the events. */
  readonly patienceMs: number;
  /** Called when a handler throws or its answer fails; `follow()` throws the error. */
  readonly fail: (error: unknown) => void;
}

/**
 * Calls the handlers for interactions while the events stream. An event only names an interaction; the
 * handler gets the durable record, and the answer refers to it (spec §6 rule 6). A handler is called once per
 * interaction, even if several events name it.
 */
export class InteractionResponder {
  readonly #parts: ResponderParts;
  readonly #asked = new Map<string, AbortController>();

  constructor(parts: ResponderParts) {
    this.#parts = parts;
  }

  handle(event: RunEvent): void {
    if (event.type === 'permission_request' || event.type === 'user_question') {
      const key = event.data.interaction_key;
      this.#guard(key, (signal) => this.#respond(key, signal));
    } else if (event.type === 'permission_resolved' || event.type === 'user_answered') {
      this.#asked.get(event.data.interaction_key)?.abort();
    }
  }

  /** Calls the handlers for interactions that events before the cursor announced and that are still pending. */
  resume(signal: AbortSignal): void {
    this.#resume(signal).catch((error: unknown) => this.#parts.fail(error));
  }

  async #resume(signal: AbortSignal): Promise<void> {
    for (const record of await this.#pending(signal)) {
      this.#guard(record.interaction_key, (asked) => this.#ask(record, asked));
    }
  }

  close(): void {
    for (const controller of this.#asked.values()) controller.abort();
  }

  #guard(key: string, ask: (signal: AbortSignal) => Promise<void>): void {
    if (this.#asked.has(key)) return;
    const controller = new AbortController();
    this.#asked.set(key, controller);
    ask(controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted && !isSettled(error)) this.#parts.fail(error);
    });
  }

  async #respond(key: string, signal: AbortSignal): Promise<void> {
    const record = (await this.#pending(signal)).find(({ interaction_key: of }) => of === key);
    if (record !== undefined) await this.#ask(record, signal);
  }

  /** The pending interactions of the run. */
  #pending(signal: AbortSignal): Promise<readonly InteractionRecord[]> {
    return this.#patiently(signal, async () => {
      const found: InteractionRecord[] = [];
      for await (const record of this.#parts.interactions.pending({ signal })) {
        if (record.run_id === this.#parts.runId) found.push(record);
      }
      return found;
    });
  }

  /**
   * Repeats a call for as long as following waits for a service: one that is restarted while it asks is no failure.
   * Both calls may be repeated: the same answer again changes nothing (D-38).
   */
  async #patiently<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const { retry, patienceMs } = this.#parts;
    const since = performance.now();
    for (let failures = 0; ; failures += 1) {
      try {
        return await call();
      } catch (error) {
        if (!isTemporary(error) || performance.now() - since >= patienceMs) throw error;
        const ms = pauseMs(error, retry, failures);
        if (ms === undefined) throw error;
        await pause(ms, signal);
      }
    }
  }

  async #ask(record: InteractionRecord, signal: AbortSignal): Promise<void> {
    const answer = await this.#answerTo(record, { signal });
    if (answer === undefined || signal.aborted) return;
    // Without the signal: the event of this answer may arrive before the response.
    await this.#patiently(signal, () =>
      this.#parts.interactions.answer(record.interaction_key, answer),
    );
  }

  async #answerTo(record: InteractionRecord, context: AskContext): Promise<Answer | undefined> {
    const { onPermission, onQuestion, onWaiting } = this.#parts.handlers;
    if (isPermission(record)) {
      if (record.can_allow === false) {
        await onWaiting?.(record, context);
        return undefined;
      }
      const said = await onPermission?.(record, context);
      return typeof said === 'string' ? { decision: said } : said;
    }
    if (!isQuestion(record)) return undefined;
    const said = await onQuestion?.(record, context);
    return typeof said === 'string' || isList(said) ? { answer: said } : said;
  }
}

function isPermission(
  record: InteractionRecord,
): record is InteractionRecord & { readonly kind: 'permission' } {
  return record.kind === 'permission';
}

function isQuestion(
  record: InteractionRecord,
): record is InteractionRecord & { readonly kind: 'question' } {
  return record.kind === 'question';
}

/** `Array.isArray` does not narrow a union to a read-only array. */
function isList(said: unknown): said is readonly string[] {
  return Array.isArray(said);
}

/** Whether the interaction is no longer pending: answered elsewhere, or the run has ended. */
function isSettled(error: unknown): boolean {
  return error instanceof ConflictError;
}
