import { redactedEvent } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { resolveReferences } from '../../agents/secret-references.ts';
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
import { within } from '../../runtime/within.ts';
import type { AllowList } from '../../egress/allow-list.ts';
import { Unreachable } from '../../egress/guarded-fetch.ts';
import { MessageTranslator } from './message-translator.ts';
import { Remote, type UserMessage } from './remote.ts';
import { type A2aSettings, tokenName } from './settings.ts';
import { type A2aState, stateOf } from './state.ts';

/** How long a remote agent may take to confirm that it gave up a task. */
const cancelMs = 5000;
/** And how long to say what it calls the task that was just begun. */
const namedMs = 2000;

export interface A2aParts {
  readonly allow: AllowList;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * One message to a remote agent, and what it tells until it stands still. A question parks the run: the agent
 * keeps its task, and the answer is the next message of it.
 */
export class A2aLeg implements Leg {
  readonly #parts: A2aParts;
  readonly #input: LegInput;
  readonly #context: LegContext<A2aSettings>;
  readonly #abort = new AbortController();
  readonly #telling: MessageTranslator;
  #remote: Remote | undefined;
  readonly #named = Promise.withResolvers<void>();
  #redact = (text: string) => text;
  #isSaid = false;
  #isCancelled = false;

  constructor(parts: A2aParts, input: LegInput, context: LegContext<A2aSettings>) {
    this.#parts = parts;
    this.#input = input;
    this.#context = context;
    const before = input.kind === 'resume' ? stateOf(context.state)?.waiting : undefined;
    this.#telling = new MessageTranslator(before ?? undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { signal } = this.#context;
    const cancel = () => void this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      for await (const event of this.#run()) yield redactedEvent(event, this.#redact);
    } catch (error) {
      yield redactedEvent(this.#failed(error), this.#redact);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#named.resolve();
      this.#abort.abort();
    }
  }

  async answer(): Promise<boolean> {
    // A question ends the leg: its answer comes with the next one.
    return false;
  }

  async cancel(): Promise<void> {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    if (this.#isSaid) {
      // What has no name yet cannot be given up; the name comes with the first word.
      await this.#within(namedMs, () => this.#named.promise);
      await this.#giveUp(this.#telling.task);
    }
    this.#abort.abort();
  }

  /** The work is elsewhere: it can only be asked to end, unless it was already. */
  async kill(): Promise<void> {
    await this.cancel();
    this.#abort.abort();
  }

  async *#run(): AsyncGenerator<HarnessEvent, void> {
    const { state, runId } = this.#context;
    const known = stateOf(state);
    const message = this.#message(known);
    const remote = await this.#open();
    // A task that still waits for the answer of an earlier run will never get one.
    if (this.#input.kind === 'prompt') await this.#giveUp(known?.waiting?.task);
    this.#isSaid = true;
    for await (const news of remote.say(message, this.#telling, this.#abort.signal)) {
      const { context } = this.#telling;
      yield* this.#telling.take(news);
      this.#named.resolve();
      if (context !== this.#telling.context) yield this.#checkpoint(null);
      if (this.#telling.standing.kind !== 'working') break;
    }
    const { standing, task = '' } = this.#telling;
    if (standing.kind === 'asking' && !this.#isCancelled) {
      const number = (this.#input.kind === 'resume' ? (known?.waiting?.number ?? 0) : 0) + 1;
      const ref = refOf(number);
      yield { type: 'user_question', ref, question: standing.question };
      const { told } = this.#telling;
      yield this.#checkpoint({ run: runId, task, number, asked: standing.mark, told });
    }
    yield this.#ended();
  }

  #message(known: A2aState | undefined): UserMessage {
    const { runId, prompt } = this.#context;
    if (this.#input.kind === 'prompt') {
      return { id: runId, text: prompt, context: known?.context ?? '', task: '' };
    }
    const waiting = known?.waiting;
    const ref = refOf(waiting?.number ?? 0);
    const answer = this.#input.answers.get(ref);
    if (waiting?.run !== runId || known === undefined || answer === undefined) {
      throw new LegFailure('agent_error', 'The run has no question of its own to go on from.');
    }
    return {
      id: `${runId}-${ref}`,
      text: wordsOf(answer),
      context: known.context,
      task: waiting.task,
    };
  }

  async #open(): Promise<Remote> {
    const { url, env } = this.#context.settings;
    const resolved = await resolveReferences(env);
    if (!resolved.ok) {
      throw new LegFailure('agent_error', `In the agent's env, ${resolved.message}`);
    }
    this.#redact = resolved.redact;
    const token = resolved.values[tokenName];
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { allow, clock } = this.#parts;
    const { signal } = this.#abort;
    this.#remote = await Remote.open({ registered: url, allow, clock, headers, signal });
    return this.#remote;
  }

  #checkpoint(waiting: A2aState['waiting']): HarnessEvent {
    return { type: 'checkpoint', state: { context: this.#telling.context, waiting } };
  }

  #ended(): LegEnd {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    const { standing } = this.#telling;
    switch (standing.kind) {
      case 'completed':
        return { type: 'end', outcome: 'completed' };
      case 'asking':
        return { type: 'end', outcome: 'waiting' };
      case 'cancelled':
        return agentError('The remote agent gave up the task.');
      case 'failed':
        return agentError(`The remote agent failed: ${standing.reason}`);
      case 'working':
        return agentError('The remote agent ended without an answer.');
      default:
        return standing satisfies never;
    }
  }

  #failed(error: unknown): LegEnd {
    if (this.#isCancelled) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof LegFailure) return error.end;
    if (error instanceof Unreachable) return agentError(`The remote agent: ${error.message}.`);
    const { log } = this.#parts;
    const said = error instanceof Error ? error.message : 'an unknown fault';
    // Its words may be anybody's, and are told to whoever started the run; the log gets the kind only.
    const kind = error instanceof Error ? error.name : typeof error;
    log.warn('a remote agent broke off', { run_id: this.#context.runId, error: kind });
    return agentError(`The remote agent could not be spoken to: ${said}`);
  }

  /** Nothing depends on whether it succeeds: the run is over all the same. */
  async #giveUp(task: string | undefined): Promise<void> {
    const remote = this.#remote;
    if (task === undefined || remote === undefined) return;
    await this.#within(cancelMs, (signal) => remote.cancel(task, signal).catch(() => undefined));
  }

  async #within(ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const late = new AbortController();
    const outcome = await within(
      { clock: this.#parts.clock, ms, late: 'late' as const },
      work(late.signal),
    );
    if (outcome === 'late') late.abort();
  }
}

function refOf(number: number): string {
  return `question-${number}`;
}

function wordsOf(answer: Answer): string {
  if (answer.kind === 'permission') return answer.allow ? 'yes' : 'no';
  if ('declined' in answer) return `I would rather not answer. ${answer.reason ?? ''}`.trim();
  return answer.values.join(', ');
}

function agentError(message: string): LegEnd {
  return new LegFailure('agent_error', message).end;
}
