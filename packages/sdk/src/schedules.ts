import type { RunRecord } from './generated/records.ts';
import type {
  ScheduleFire,
  ScheduleRecord,
  ScheduleSummary,
} from './generated/schedule-records.ts';
import type {
  CreateSchedule,
  PageQuery,
  SchedulesQuery,
  UpdateSchedule,
} from './generated/requests.ts';
import { Run } from './runs/run.ts';
import { type RunInput, inputOf } from './runs/runs.ts';
import { type IdempotentOptions, newKey } from './transport/idempotency.ts';
import { Listing } from './transport/listing.ts';
import { at } from './transport/path.ts';
import type { CallOptions, Transport } from './transport/transport.ts';

/** A schedule to create. `input` may be just the prompt. */
export type NewSchedule = Omit<CreateSchedule, 'idempotency_key' | 'input'> & {
  readonly input: RunInput;
};

/** The schedules of the workspace: each starts runs of an agent at the times of a cron pattern. */
export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a schedule.
   *
   * @example
   * const { next_at } = await convoke.schedules.create({
   *   name: 'Morning report',
   *   agent_name: 'demo',
   *   cron: '0 9 * * 1-5',
   *   time_zone: 'Europe/Berlin',
   *   input: 'Report on yesterday.',
   * });
   */
  create(schedule: NewSchedule, options: IdempotentOptions = {}): Promise<ScheduleRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    const input = inputOf(schedule.input, {});
    return this.#transport.json({
      method: 'POST',
      path: '/v1/schedules',
      json: { ...schedule, input, idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
  }

  /** Lists the schedules without their inputs, newest first. */
  list(query: SchedulesQuery & CallOptions = {}): Listing<ScheduleSummary> {
    return new Listing(this.#transport, { path: '/v1/schedules', key: 'schedules' }, query);
  }

  get(id: string, { signal }: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#transport.json({ method: 'GET', path: at`/v1/schedules/${id}`, signal });
  }

  /** Changes the given fields. `version` is the one that was read. */
  update(id: string, { signal, ...change }: UpdateSchedule & CallOptions): Promise<ScheduleRecord> {
    return this.#transport.json({
      method: 'PATCH',
      path: at`/v1/schedules/${id}`,
      json: change,
      signal,
    });
  }

  /** Starts no further run. Runs that it started continue. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at`/v1/schedules/${id}`, signal });
  }

  pause(id: string, options: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#post(at`/v1/schedules/${id}/pause`, options);
  }

  resume(id: string, options: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#post(at`/v1/schedules/${id}/resume`, options);
  }

  /** Starts a run now, outside the schedule. */
  async run(id: string, options: IdempotentOptions = {}): Promise<Run> {
    const { idempotencyKey = newKey(), signal } = options;
    const record = await this.#transport.json<RunRecord>({
      method: 'POST',
      path: at`/v1/schedules/${id}/run`,
      json: { idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
    return new Run(this.#transport, record);
  }

  /** Lists past slots with their outcome, newest first. */
  fires(id: string, query: PageQuery & CallOptions = {}): Listing<ScheduleFire> {
    const path = at`/v1/schedules/${id}/fires`;
    return new Listing(this.#transport, { path, key: 'fires' }, query);
  }

  /** Returns the next times of the pattern. */
  async preview(
    id: string,
    { count, signal }: { readonly count?: number | undefined } & CallOptions = {},
  ): Promise<readonly string[]> {
    const { times } = await this.#transport.json<{ readonly times: readonly string[] }>({
      method: 'GET',
      path: at`/v1/schedules/${id}/preview`,
      query: { count },
      signal,
    });
    return times;
  }

  #post(path: string, { signal }: CallOptions): Promise<ScheduleRecord> {
    return this.#transport.json({ method: 'POST', path, repeatable: 'always', signal });
  }
}
