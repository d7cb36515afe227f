import type { RunId } from '@convoke/contract';
import { type RunEvent, endsRun } from '../../domain/run/run-event.ts';
import { type RunLog, readLog } from './run-log.ts';
import type { Services } from '../services.ts';
import { type LogBatch, SharedTails, type TakeBatch } from '../shared-tails.ts';

export interface Follow<Rendered> {
  readonly run: RunLog;
  /** Replay starts strictly after this sequence number (spec §6.2). */
  readonly after: number;
  readonly take: TakeBatch<EventBatch<Rendered>>;
  readonly signal: AbortSignal;
}

/** Turns events into the form in which readers get them. */
export type RenderEvents<Rendered> = (events: readonly RunEvent[]) => Rendered;

export interface EventBatch<Rendered> extends LogBatch {
  readonly rendered: Rendered;
}

/**
 * A page with the SSE lines around its events, plus the bytes a connection may already buffer, stays below the
 * 256 KiB of D-33 for a reader that does not read. Only a single larger event takes more.
 */
const pageBounds = { limit: 1000, maxBytes: 128 * 1024 };

type FollowServices = Pick<Services, 'store' | 'fanout' | 'clock' | 'log' | 'metrics'>;

/** Follows the logs of runs. */
export class RunFollower<Rendered> {
  readonly #services: FollowServices;
  readonly #render: RenderEvents<Rendered>;
  readonly #tails: SharedTails<RunId, EventBatch<Rendered>>;

  constructor(services: FollowServices, render: RenderEvents<Rendered>) {
    this.#services = services;
    this.#render = render;
    this.#tails = new SharedTails(services, {
      topicOf: (id) => `run:${id}`,
      lastSeqs: (ids) => services.store.read.runs.lastSeqs(ids),
    });
  }

  /** Gives a reader the events in order. Resolves after the last one, or when the reader leaves. */
  follow({ run, after, take, signal }: Follow<Rendered>): Promise<void> {
    if (run.end !== undefined && after >= run.lastSeq) return Promise.resolve();
    const read = (at: number) => this.#page(run, at);
    return this.#tails.follow({ key: run.id, read, after, take, signal });
  }

  async #page(run: RunLog, after: number): Promise<EventBatch<Rendered> | undefined> {
    const { events, isCut } = await readLog(this.#services, run, { after, ...pageBounds });
    const last = events.at(-1);
    if (last === undefined) return undefined;
    return {
      after,
      lastSeq: last.seq,
      rendered: this.#render(events),
      ended: endsRun(last),
      isCut,
    };
  }
}
