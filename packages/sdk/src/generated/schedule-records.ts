// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  JsonObject,
  ScheduleStatus,
  OverlapPolicy,
  MissedPolicy,
  SessionMode,
  FireOutcome,
} from './values.ts';

/** A schedule without its input. */
export interface ScheduleSummary {
  id: string;
  name: string;
  agent_name: string;
  /** The user of your product that its sessions are for. */
  end_user?: string | undefined;
  cron: string;
  time_zone: string;
  session: {
    mode: SessionMode;
    /** The session that is kept, once there is one. */
    session_id?: string | undefined;
  };
  /** Every run gets them, and its own `schedule_id`. */
  labels: Record<string, string>;
  overlap: OverlapPolicy;
  missed: MissedPolicy;
  missed_within_seconds: number;
  status: ScheduleStatus;
  /** `client_withdrawn`: the client or person is no longer allowed to start runs. */
  status_reason?: string | undefined;
  /** The next slot. Absent while the schedule is paused. */
  next_at?: string | undefined;
  /** The newest slot that was processed. */
  last_slot_at?: string | undefined;
  last_run_id?: string | undefined;
  /** Send it with every update. */
  version: number;
  /** Id of the client or person that the runs start as: the one that created the schedule, or last changed its pattern, time zone or input. */
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
  created_at: string;
  updated_at: string;
}

/** Starts runs of an agent on a cron schedule. */
export interface ScheduleRecord {
  id: string;
  name: string;
  agent_name: string;
  /** The user of your product that its sessions are for. */
  end_user?: string | undefined;
  cron: string;
  time_zone: string;
  session: {
    mode: SessionMode;
    /** The session that is kept, once there is one. */
    session_id?: string | undefined;
  };
  /** Every run gets them, and its own `schedule_id`. */
  labels: Record<string, string>;
  overlap: OverlapPolicy;
  missed: MissedPolicy;
  missed_within_seconds: number;
  status: ScheduleStatus;
  /** `client_withdrawn`: the client or person is no longer allowed to start runs. */
  status_reason?: string | undefined;
  /** The next slot. Absent while the schedule is paused. */
  next_at?: string | undefined;
  /** The newest slot that was processed. */
  last_slot_at?: string | undefined;
  last_run_id?: string | undefined;
  /** Send it with every update. */
  version: number;
  /** Id of the client or person that the runs start as: the one that created the schedule, or last changed its pattern, time zone or input. */
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
  created_at: string;
  updated_at: string;
  /** The input of every run. */
  input: JsonObject;
}

/** The outcome of one slot of a schedule. */
export interface ScheduleFire {
  /** The scheduled time. */
  slot_at: string;
  /** When the service processed it. */
  fired_at: string;
  outcome: FireOutcome;
  /** The run, if one was started. */
  run_id?: string | undefined;
  session_id?: string | undefined;
  /** `missed` or `overlap`, or the code of the error that refused the run. */
  code?: string | undefined;
}
