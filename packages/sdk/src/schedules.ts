import type { RunRecord } from './generated/records.ts';
import type { CreateSchedule } from './generated/requests.ts';
import type { ScheduleRecord } from './generated/schedule-records.ts';
import { PlainSchedules } from './generated/schedules.ts';
import { Run } from './runs/run.ts';
import { type RunInput, inputOf } from './runs/runs.ts';
import { type IdempotentOptions, newKey } from './transport/idempotency.ts';
import { at } from './transport/path.ts';
import type { CallOptions, Transport } from './transport/transport.ts';

/** A schedule to create. `input` may be just the prompt. */
export type NewSchedule = Omit<CreateSchedule, 'idempotency_key' | 'input'> & {
  readonly input: RunInput;
};

/** The schedules of the workspace: each starts runs of an agent at the times of a cron pattern. */
export class Schedules extends PlainSchedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
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
}
