// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { ScheduleSummary, ScheduleRecord, ScheduleFire } from './schedule-records.ts';
import type { UpdateSchedule, PageQuery, SchedulesQuery } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The schedules of the workspace. */
export class PlainSchedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List the schedules of the tenant. Lists the schedules of all clients of the tenant, without their inputs. */
  list(query: SchedulesQuery & CallOptions = {}): Listing<ScheduleSummary> {
    return new Listing(this.#transport, { path: '/v1/schedules', key: 'schedules' }, query);
  }

  /** Read a schedule. Returns the schedule with its input, its next slot and its last run. */
  get(id: string, { signal }: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#transport.json({ method: 'GET', path: at`/v1/schedules/${id}`, signal });
  }

  /**
   * Change a schedule. Changes the fields that are sent. A new pattern or time zone applies from now on: missed
   * slots of the old one start no run. The caller that changes the pattern, the time zone or the input takes over
   * the schedule: its runs then start as that caller.
   */
  update(id: string, { signal, ...change }: UpdateSchedule & CallOptions): Promise<ScheduleRecord> {
    return this.#transport.json({
      method: 'PATCH',
      path: at`/v1/schedules/${id}`,
      json: change,
      signal,
    });
  }

  /**
   * Delete a schedule. Starts no further runs. Runs that it started continue, and their sessions are kept. Deleting
   * it again is 204, too.
   */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at`/v1/schedules/${id}`, signal });
  }

  /** Pause a schedule. Starts no further runs until the schedule is resumed. */
  pause(id: string, { signal }: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#transport.json({
      method: 'POST',
      path: at`/v1/schedules/${id}/pause`,
      repeatable: 'always',
      signal,
    });
  }

  /**
   * Resume a schedule. Slots that passed during the pause count as missed. If the schedule was paused because its
   * client is no longer allowed to start runs, its runs start as the caller from now on.
   */
  resume(id: string, { signal }: CallOptions = {}): Promise<ScheduleRecord> {
    return this.#transport.json({
      method: 'POST',
      path: at`/v1/schedules/${id}/resume`,
      repeatable: 'always',
      signal,
    });
  }

  /**
   * List past slots of a schedule. Lists past slots with their run, or the reason why they started none. Kept for
   * 30 days.
   */
  fires(id: string, query: PageQuery & CallOptions = {}): Listing<ScheduleFire> {
    return new Listing(
      this.#transport,
      { path: at`/v1/schedules/${id}/fires`, key: 'fires' },
      query,
    );
  }
}
