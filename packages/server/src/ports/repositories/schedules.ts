import type { ScheduleId, ScheduleStatus, TenantId } from '@convoke/contract';
import type { Fire, Schedule, ScheduleSummary } from '../../domain/schedule/schedule.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { PageRequest } from '../page.ts';

export interface ScheduleRepository {
  insert(schedule: Schedule): Promise<void>;
  find(scope: TenantScope, id: ScheduleId): Promise<Schedule | undefined>;
  /** Locks the row until the transaction ends. Always locked before a session. */
  lock(scope: TenantScope, id: ScheduleId): Promise<Schedule | undefined>;
  /** Writes `next` if the row still has the version and the next slot of `seen`; false otherwise. */
  save(next: Schedule, seen: Schedule): Promise<boolean>;
  remove(scope: TenantScope, id: ScheduleId): Promise<boolean>;
  list(scope: TenantScope, filter: ScheduleFilter, page: PageRequest): Promise<ScheduleSummary[]>;
  count(scope: TenantScope): Promise<number>;
  /** Ids of active schedules with a slot that has come, the most overdue first. */
  due(now: number, limit: number): Promise<ScheduleId[]>;
  /** Locks a due schedule. Undefined when it is not due any more, or another server deals with it (SKIP LOCKED). */
  tryLockDue(id: ScheduleId, now: number): Promise<Schedule | undefined>;
  /** Fails when one of the slots has a row already. */
  insertFires(fires: readonly Fire[]): Promise<void>;
  /** `after` of the page is the slot of the last fire of the page before. */
  listFires(scope: TenantScope, id: ScheduleId, page: PageRequest): Promise<Fire[]>;
  /** Deletes up to `limit` fires from before a time; true when there may be more. */
  forgetFires(before: number, limit: number): Promise<boolean>;
  /** Deletes up to `limit` rows of a tenant; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}

export interface ScheduleFilter {
  readonly status?: ScheduleStatus | undefined;
  readonly agentName?: string | undefined;
}
