import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ClaudeSdk, Query } from '../../../src/harness/claude/sdk.ts';
import { calledBack, json } from './sdk-options.ts';

const pauseMs = 150;
const toolName = 'Append';
const model = 'claude-working';

/** What Claude would store in its HOME. */
interface Session {
  readonly jobs: readonly string[];
  said: readonly string[];
  done: readonly string[];
  deferred: string | null;
}

const reply = z.object({
  hookSpecificOutput: z.looseObject({ permissionDecision: z.enum(['allow', 'deny', 'defer']) }),
});

/**
 * Stands in for Claude's SDK as one that works: it names each job of its prompt, and does it with a tool call that
 * appends to a file. It keeps its session beside the session folder, so another process can continue with it.
 */
export const workingSdk: ClaudeSdk = {
  query({ prompt, options }): Query {
    const stop = Promise.withResolvers<void>();
    const work = new Work(options, stop.promise);
    return {
      async interrupt() {
        work.isInterrupted = true;
        stop.resolve();
      },
      [Symbol.asyncIterator]: () => work.messages(prompt, options['resume']),
    };
  },
};

class Work {
  readonly #parts: ReturnType<typeof calledBack>;
  readonly #stopped: Promise<void>;
  isInterrupted = false;

  constructor(options: Readonly<Record<string, unknown>>, stopped: Promise<void>) {
    this.#parts = calledBack(options);
    this.#stopped = stopped;
  }

  async *messages(prompts: AsyncIterable<unknown>, resumed: unknown) {
    const id = typeof resumed === 'string' ? resumed : crypto.randomUUID();
    const path = join(`${this.#parts.cwd}.home`, `claude-${id}.json`);
    if (resumed !== undefined && !existsSync(path)) {
      yield result(id, {
        is_error: true,
        errors: [`No conversation found with session ID: ${id}`],
      });
      return;
    }
    const stored = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    let session: Session | undefined = stored === undefined ? undefined : JSON.parse(stored);
    const save = (now: Session) => writeFileSync(path, JSON.stringify(now));
    const init = { type: 'system', subtype: 'init', session_id: id, model };
    if (session?.deferred === null || session === undefined) {
      const text = await this.#taken(prompts);
      session ??= { jobs: jobsIn(text), said: [], done: [], deferred: null };
    } else yield* this.#make(session, session.deferred, save);
    yield init;
    for (const job of session.jobs.filter((each) => session?.done.includes(each) === false)) {
      yield* this.#say(session, job);
      session.said = [...session.said, job];
      save(session);
      const outcome = yield* this.#make(session, job, save);
      if (outcome === 'defer') {
        const deferred = { id: job, name: toolName, input: { job } };
        yield result(id, { is_error: false, deferred_tool_use: deferred });
        return;
      }
      await Promise.race([new Promise((resolve) => setTimeout(resolve, pauseMs)), this.#stopped]);
      this.#parts.abortController.signal.throwIfAborted();
      if (this.isInterrupted) {
        yield result(id, { is_error: true, errors: ['interrupted'] });
        return;
      }
    }
    yield result(id, { is_error: false });
  }

  async #taken(prompts: AsyncIterable<unknown>): Promise<string> {
    const { signal } = this.#parts.abortController;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
    const taken = await Promise.race([prompts[Symbol.asyncIterator]().next(), aborted]);
    signal.throwIfAborted();
    return JSON.stringify(json(taken.value));
  }

  *#say({ said }: Session, job: string) {
    const text = said.includes(job) ? '' : `${job}. `;
    const call = { type: 'tool_use', id: job, name: toolName, input: { job } };
    yield streamed({ type: 'message_start', message: { model } });
    yield streamed({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
    yield streamed({ type: 'content_block_start', content_block: { type: 'tool_use', id: job } });
    yield { type: 'assistant', message: { content: [{ type: 'text', text }, call] } };
    yield streamed({ type: 'message_stop' });
  }

  /** Asks about the call of a job, and makes it if it may. */
  async *#make(session: Session, job: string, save: (session: Session) => void) {
    const asked = { tool_name: toolName, tool_use_id: job, tool_input: { job } };
    const answer = reply.parse(await this.#parts.preToolUse(asked));
    const { permissionDecision: decision } = answer.hookSpecificOutput;
    session.deferred = decision === 'defer' ? job : null;
    if (decision === 'allow') {
      appendFileSync(join(this.#parts.cwd, 'jobs.txt'), `${job}\n`);
      session.done = [...session.done, job];
    }
    save(session);
    if (decision !== 'defer') {
      const content = [{ type: 'tool_result', tool_use_id: job, content: decision }];
      yield { type: 'user', message: { content } };
    }
    return decision;
  }
}

/** The words after `@@` in the prompt. */
function jobsIn(prompt: string): string[] {
  return /@@ ([\w -]+)/.exec(prompt)?.[1]?.split(' ') ?? [];
}

function streamed(event: object): object {
  return { type: 'stream_event', event };
}

function result(id: string, parts: object): object {
  return { type: 'result', subtype: 'success', session_id: id, usage: {}, ...parts };
}
