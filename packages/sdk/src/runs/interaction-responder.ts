import { ConflictError } from '../errors.ts';
import type { InteractionRecord } from '../generated/records.ts';
import type { PermissionAnswer, QuestionDeclined, QuestionReply } from '../generated/requests.ts';
import type { Decision } from '../generated/values.ts';
import type { Answer, Interactions } from './interactions.ts';
import type { RunEvent } from './run-event.ts';

export interface AskContext {
  /** Aborted when somebody else answered, or when the run is no longer followed. */
  readonly signal: AbortSignal;
}

/** What a handler says; undefined leaves the interaction to somebody else. */
export type PermissionHandler = (
  request: InteractionRecord & { readonly kind: 'permission' },
  context: AskContext,
) => Said<Decision | PermissionAnswer>;

export type QuestionHandler = (
  question: InteractionRecord & { readonly kind: 'question' },
  context: AskContext,
) => Said<string | readonly string[] | QuestionReply | QuestionDeclined>;

type Said<T> = T | undefined | Promise<T | undefined>;

export interface InteractionHandlers {
  /** Decides on a tool that needs approval: `'allow'`, `'deny'`, or more of an answer. */
  readonly onPermission?: PermissionHandler | undefined;
  /** Answers a question: a text, several for a question with `multiple`, or more of an answer. */
  readonly onQuestion?: QuestionHandler | undefined;
}

interface AttendanceParts {
  readonly runId: string;
  readonly interactions: Interactions;
  readonly handlers: InteractionHandlers;
  /** A handler or its answer failed: whoever follows the run is told. */
  readonly fail: (error: unknown) => void;
}

/**
 * Asks the handlers while the events go on. An event only says where to look: what is shown to a handler
 * and answered is the durable record (spec §6 rule 6). Each interaction is asked about once, however
 * often it is announced.
 */
export class InteractionResponder {
  readonly #parts: AttendanceParts;
  readonly #asked = new Map<string, AbortController>();

  constructor(parts: AttendanceParts) {
    this.#parts = parts;
  }

  notice(event: RunEvent): void {
    if (event.type === 'permission_request' || event.type === 'user_question') {
      const key = event.data.interaction_key;
      void this.#guard(key, (signal) => this.#look(key, signal));
    } else if (event.type === 'permission_resolved' || event.type === 'user_answered') {
      this.#asked.get(event.data.interaction_key)?.abort();
    }
  }

  /** For who goes on after a cursor: what was announced before it and is still open is not announced again. */
  async resume(signal: AbortSignal): Promise<void> {
    try {
      for await (const record of this.#parts.interactions.pending({ signal })) {
        if (record.run_id !== this.#parts.runId) continue;
        void this.#guard(record.interaction_key, (asked) => this.#ask(record, asked));
      }
    } catch (error) {
      this.#parts.fail(error);
    }
  }

  close(): void {
    for (const controller of this.#asked.values()) controller.abort();
  }

  async #guard(key: string, ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#asked.has(key)) return;
    const controller = new AbortController();
    this.#asked.set(key, controller);
    try {
      await ask(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted && !isSettled(error)) this.#parts.fail(error);
    }
  }

  async #look(key: string, signal: AbortSignal): Promise<void> {
    for await (const record of this.#parts.interactions.pending({ signal })) {
      if (record.interaction_key === key) return this.#ask(record, signal);
    }
  }

  async #ask(record: InteractionRecord, signal: AbortSignal): Promise<void> {
    const answer = await this.#answerTo(record, { signal });
    if (answer === undefined || signal.aborted) return;
    // Without the signal: the event of this very answer may come before the response to it.
    await this.#parts.interactions.answer(record.interaction_key, answer);
  }

  async #answerTo(record: InteractionRecord, context: AskContext): Promise<Answer | undefined> {
    const { onPermission, onQuestion } = this.#parts.handlers;
    if (isPermission(record)) {
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

/** `Array.isArray` does not tell a read-only array from the rest of a union. */
function isList(said: unknown): said is readonly string[] {
  return Array.isArray(said);
}

/** Somebody else was faster, or the run has ended meanwhile: nothing is left to answer. */
function isSettled(error: unknown): boolean {
  return error instanceof ConflictError;
}
