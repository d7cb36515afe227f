import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ClaudeSdk, Query } from '../../../src/harness/claude/sdk.ts';
import { calledBack, json } from './sdk-options.ts';
import type { Entry, RecordedQuery } from './sdk-recording.ts';

/** What a reply to the SDK says about a call: whether it may be made, and with which input. */
const replySchema = z.union([
  z.object({
    hookSpecificOutput: z.looseObject({
      permissionDecision: z.string(),
      updatedInput: z.json().optional(),
    }),
  }),
  z.looseObject({ behavior: z.string(), updatedInput: z.json().optional() }),
]);
const hookInput = z.looseObject({ tool_name: z.string(), tool_input: z.json() });
const writeInput = z.looseObject({ file_path: z.string(), content: z.string() });

/**
 * Stands in for Claude's SDK with what it did in the recorded queries, one after the other. It makes every call that
 * the adapter permits, so a gate that permits too much is seen by its files, and it fails if the adapter replies
 * otherwise than it did to the real SDK.
 */
export class ReplayedSdk implements ClaudeSdk {
  readonly #queries: RecordedQuery[];
  /** Queries that have not ended. */
  running = 0;
  /** Files that were written, once for each call that was made. */
  readonly made: string[] = [];
  /** The session that each query went on with; undefined for a new one. */
  readonly resumed: unknown[] = [];

  constructor(queries: readonly RecordedQuery[]) {
    this.#queries = [...queries];
  }

  query({ prompt, options }: Parameters<ClaudeSdk['query']>[0]): Query {
    const recorded = this.#queries.shift();
    if (recorded === undefined) throw new Error('this query was not recorded');
    this.resumed.push(options['resume']);
    const interrupted = Promise.withResolvers<void>();
    const replay = new Replay({ ...recorded, made: this.made }, prompt, options);
    const count = (change: number) => {
      this.running += change;
    };
    return {
      async interrupt() {
        interrupted.resolve();
      },
      async *[Symbol.asyncIterator]() {
        count(1);
        try {
          yield* replay.messages(interrupted.promise);
        } finally {
          count(-1);
        }
      },
    };
  }
}

type CallEntry = Extract<Entry, { call: number }>;

class Replay {
  readonly #entries: readonly Entry[];
  readonly #made: string[];
  readonly #prompts: AsyncIterator<unknown>;
  readonly #parts: ReturnType<typeof calledBack>;
  readonly #calls = new Map<number, { entry: CallEntry; reply: Promise<unknown> }>();

  constructor(
    { entries, made }: Pick<RecordedQuery, 'entries'> & { readonly made: string[] },
    prompt: AsyncIterable<unknown>,
    options: Readonly<Record<string, unknown>>,
  ) {
    this.#entries = entries;
    this.#made = made;
    this.#prompts = prompt[Symbol.asyncIterator]();
    this.#parts = calledBack(options);
  }

  async *messages(interrupted: Promise<void>): AsyncGenerator<unknown, void> {
    for (const entry of this.#entries) {
      if ('message' in entry) yield entry.message;
      else if ('prompt' in entry) await this.#takePrompt(entry.prompt);
      else if ('call' in entry) this.#call(entry);
      else if ('reply' in entry) await this.#takeReply(entry.reply, entry.is);
      else if ('did' in entry) await (entry.did === 'interrupt' ? interrupted : this.#aborted());
      else throw new Error(entry.fails);
    }
  }

  async #takePrompt(expected: unknown): Promise<void> {
    const { value } = await this.#prompts.next();
    if (!isDeepStrictEqual(json(value), expected)) {
      throw new Error(`the recorded prompt was ${JSON.stringify(expected)}`);
    }
  }

  #call(entry: CallEntry): void {
    const { preToolUse, canUseTool } = this.#parts;
    const reply = (entry.of === 'preToolUse' ? preToolUse : canUseTool)(...entry.with);
    this.#calls.set(entry.call, { entry, reply });
  }

  async #takeReply(number: number, expected: unknown): Promise<void> {
    const called = this.#calls.get(number);
    if (called === undefined) throw new Error(`call ${number} was not recorded`);
    const reply = json(await called.reply);
    await this.#makeIfPermitted(called.entry, replySchema.parse(reply));
    if (!isDeepStrictEqual(reply, expected)) {
      throw new Error(`the adapter replied ${JSON.stringify(reply)} to a call of Claude`);
    }
  }

  async #makeIfPermitted(call: CallEntry, reply: z.infer<typeof replySchema>): Promise<void> {
    const { decision, updated } =
      'behavior' in reply
        ? { decision: reply.behavior, updated: reply.updatedInput }
        : {
            decision: reply.hookSpecificOutput.permissionDecision,
            updated: reply.hookSpecificOutput.updatedInput,
          };
    if (decision !== 'allow') return;
    const { tool_name: name, tool_input: input } =
      call.of === 'preToolUse'
        ? hookInput.parse(call.with[0])
        : hookInput.parse({ tool_name: call.with[0], tool_input: call.with[1] });
    if (name !== 'Write') return;
    const { file_path, content } = writeInput.parse(updated ?? input);
    const file = file_path.replace('/workspace/', '');
    this.#made.push(file);
    const path = join(this.#parts.cwd, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }

  async #aborted(): Promise<void> {
    const { signal } = this.#parts.abortController;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
