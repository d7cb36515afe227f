import { nameWithCaller } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import {
  type Answer,
  type Convoke,
  ConvokeError,
  type InteractionInTenantRecord,
  type InteractionSummary,
  type NoticeRecord,
} from '@convoke/sdk';
import { consoleLink } from '../console-link.ts';
import { exitCodes } from '../failure.ts';
import { neededFor, reasonsOf } from './approvers.ts';
import type { Asking } from './ask.ts';
import type { Interrupts } from './interrupts.ts';
import { oneLine, remark, styled } from './output.ts';
import { askPermission, askQuestion } from './person-answers.ts';
import { labelsText } from './table.ts';
import { age } from './times.ts';

export interface InboxFilter {
  readonly agent_name?: string | undefined;
  readonly label?: readonly string[] | undefined;
}

/** Notices after which the inbox may look different. */
const relevant = [
  'run_waiting',
  'interaction_answered',
  'run_completed',
  'run_cancelled',
  'run_failed',
] as const;

/**
 * Asks the person at the terminal about every pending request, the oldest first, and continues with new ones. The
 * feed tells what is new, and what was answered elsewhere while it was being asked.
 */
export class Inbox {
  readonly #convoke: Convoke;
  readonly #filter: InboxFilter;
  readonly #stop = new AbortController();
  #isInterrupted = false;
  /** Requests that the person has answered or put off: they are not asked again. */
  readonly #seen = new Set<string>();
  #asked: { readonly item: InteractionSummary; readonly closed: AbortController } | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(convoke: Convoke, filter: InboxFilter) {
    this.#convoke = convoke;
    this.#filter = filter;
  }

  /** Runs until Ctrl-C. */
  async run(): Promise<void> {
    // Before the first list, so that nothing between the two is missed.
    const following = this.#follow();
    const asking = this.#askAll();
    try {
      await Promise.race([following, asking]);
    } catch (error) {
      // The feed ends with the error of its aborted request.
      if (!this.#isInterrupted) throw error;
    } finally {
      this.#stop.abort();
      await Promise.allSettled([following, asking]);
    }
  }

  async #askAll(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const changed = this.#changed.promise;
      const item = await this.#next();
      if (item !== undefined) {
        await this.#handle(item);
        continue;
      }
      remark('all caught up; watching for new requests (press Ctrl-C to exit)', 'dim');
      await Promise.race([changed, untilAborted(this.#stop.signal)]);
    }
  }

  async #next(): Promise<InteractionSummary | undefined> {
    const { signal } = this.#stop;
    for await (const item of this.#convoke.interactions.list({ ...this.#filter, signal })) {
      if (!this.#seen.has(item.interaction_key)) return item;
    }
    return undefined;
  }

  async #handle(item: InteractionSummary): Promise<void> {
    const closed = new AbortController();
    this.#asked = { item, closed };
    try {
      const record = await this.#convoke.interactions.get(item.interaction_key);
      if (record.status !== 'pending') return;
      remark(`\n${styled('bold', headOf(record), process.stderr)}`);
      if (record.kind === 'permission' && record.can_allow === false) {
        this.#seen.add(item.interaction_key);
        return await this.#show(record);
      }
      const answer = await answerOf(record, {
        signal: closed.signal,
        interrupts: this.#interrupts,
      });
      this.#seen.add(item.interaction_key);
      if (answer === undefined) return;
      await this.#convoke.interactions.answer(item, answer);
      remark('  recorded', 'dim');
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#seen.add(item.interaction_key);
      if (!closed.signal.aborted && !isOver(error)) throw error;
      remark('\n  already answered or closed', 'dim');
    } finally {
      this.#asked = undefined;
    }
  }

  /** It waits for other people, who answer in the console. */
  async #show(record: InteractionInTenantRecord): Promise<void> {
    for (const reason of reasonsOf(record)) remark(`  ${reason}`, 'dim');
    const needed = neededFor(record) ?? 'waits for other people';
    remark(printable(`  ${record.tool_name} ${needed}`), 'dim');
    remark(`  ${await consoleLink(this.#convoke, record.run_id)}`, 'dim');
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const notices = this.#convoke.feed.follow({ from: 'newest', types: relevant, signal });
    for await (const notice of notices) {
      if (notice.type === 'run_waiting') {
        this.#changed.resolve();
        this.#changed = Promise.withResolvers();
      } else if (this.#asked !== undefined && closes(notice, this.#asked.item)) {
        this.#asked.closed.abort();
      }
    }
  }

  /** Ctrl-C ends the inbox; pending requests stay pending. */
  readonly #interrupts: Interrupts = {
    raise: async () => {
      this.#isInterrupted = true;
      process.exitCode = exitCodes.interrupted;
      this.#stop.abort();
      this.#asked?.closed.abort();
      return 'over';
    },
    settled: async () => undefined,
    yieldTo: (program) => program(),
    stop: () => undefined,
  };
}

function closes({ run_id, data }: NoticeRecord, item: InteractionSummary): boolean {
  if (data.interaction_key !== undefined) return data.interaction_key === item.interaction_key;
  return run_id === item.run_id;
}

function isOver(error: unknown): boolean {
  const codes: readonly unknown[] = [
    'interaction_answered',
    'interaction_not_pending',
    'not_found',
  ];
  return error instanceof ConvokeError && codes.includes(error.code);
}

async function answerOf(
  record: InteractionInTenantRecord,
  asking: Asking,
): Promise<Answer | undefined> {
  if (record.kind === 'permission') return askPermission(record, asking);
  const said = await askQuestion(record, asking);
  if (said === undefined) return undefined;
  return typeof said === 'string' || Array.isArray(said) ? { answer: said } : said;
}

function headOf(record: InteractionInTenantRecord): string {
  const labels = labelsText(record.run_labels);
  const parts = [nameWithCaller(record), age(record.created_at), record.preview, labels];
  return oneLine(parts.filter((part) => part !== '').join('  ·  '));
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
