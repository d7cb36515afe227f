// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { Json, JsonObject, RunErrorCode, InterruptionReason, Decision } from './values.ts';

export interface RunStartedData {
  run_id: string;
  /** The version of the agent: SHA-256, in hex, of the files that decide what it does. */
  agent_digest?: string | undefined;
}

export interface RunInterruptedData {
  run_id: string;
  attempt: number;
  reason: InterruptionReason;
  discard_from_event_id?: string | undefined;
  /** The run was not interrupted again: only text was taken back. */
  text_only?: true | undefined;
  /** Tool calls that may or may not have completed. */
  calls_in_doubt?: number | undefined;
}

export interface RunResumedData {
  run_id: string;
  attempt: number;
  reason: 'answered' | 'drained' | 'worker_lost';
  /** Files of the session: on the same machine, restored on another one, or restored without the latest changes. */
  workspace?: 'same' | 'restored' | 'behind' | undefined;
  /** The agent was changed since the run was last checkpointed. */
  agent_changed?: true | undefined;
  /** The version of the agent: SHA-256, in hex, of the files that decide what it does. */
  agent_digest?: string | undefined;
}

export interface RunOutputData {
  run_id: string;
  /** Any JSON value. */
  output: Json;
}

export interface RunCompletedData {
  run_id: string;
  /** The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual. */
  recovered?: boolean | undefined;
}

export interface RunCancelledData {
  run_id: string;
  /** The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual. */
  recovered?: boolean | undefined;
}

export interface ErrorData {
  message: string;
  error_code?: RunErrorCode | undefined;
  /** The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual. */
  recovered?: boolean | undefined;
}

export interface MessageDeltaData {
  text: string;
  framework: string;
  model: string;
}

export interface PermissionRequestData {
  request_id: string;
  interaction_key: string;
  tool_name: string;
  tool_input: Json;
  /** The id of the call in the events `<framework>.tool_call` and `<framework>.tool_result`, where the framework knows it. */
  tool_call_id?: string | undefined;
  /** The rules that ask, the organization's first. */
  rules?:
    | Array<{
        source: 'organization' | 'agent';
        name: string;
        reason?: string | undefined;
      }>
    | undefined;
  /** Who may allow it. Absent: every caller that may answer. */
  approvers?:
    | {
        /** The lowest role of a person who may allow. */
        role: 'operator' | 'admin' | 'owner';
        /** How many people have to allow it. */
        people: number;
        /** Who started the run may not allow. */
        not_starter: boolean;
        /** Automation clients may allow, too. */
        clients: boolean;
        /** Session tokens may allow, too. */
        end_users: boolean;
      }
    | undefined;
  /** How far an allow may be remembered for the rest of the session. */
  can_remember?: 'exact' | 'tool' | undefined;
  /** Until when an answer is taken, where a rule says so. */
  expires_at?: string | undefined;
  /** This repeats an earlier event of the same interaction. */
  replayed?: boolean | undefined;
}

export interface PermissionResolvedData {
  interaction_key: string;
  decision: Decision;
  message?: string | undefined;
  updated_input?: JsonObject | undefined;
  /** What decided, where no person and no client did. */
  by?: 'rule' | 'memory' | 'expiry' | undefined;
  /** What the allow also allows for the rest of the session. */
  remembered?: 'exact' | 'tool' | undefined;
}

export interface PermissionApprovedData {
  interaction_key: string;
  /** How many people have allowed it by now. */
  approvals: number;
  /** How many people have to allow it. */
  needed: number;
}

export interface CallDecidedData {
  tool_name: string;
  tool_call_id?: string | undefined;
  /** The interaction that holds the denial, or the allow that is remembered. */
  interaction_key?: string | undefined;
  effect: 'allow' | 'ask' | 'deny';
  by: 'rule' | 'memory';
  rules: Array<{
    source: 'organization' | 'agent';
    name: string;
    reason?: string | undefined;
  }>;
  observed?: true | undefined;
}

export interface UserQuestionData {
  request_id: string;
  interaction_key: string;
  question: string;
  options?:
    | Array<{
        label: string;
        description?: string | undefined;
      }>
    | undefined;
  multiple?: boolean | undefined;
  /** `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected. */
  about?:
    | {
        kind: 'call_in_doubt' | 'workspace_behind' | 'connection_missing';
        tool_name?: string | undefined;
        tool_input?: Json | undefined;
        begun_at?: string | undefined;
        /** The first of the tool calls whose file changes are lost. */
        calls?:
          | Array<{
              tool_name: string;
              begun_at: string;
            }>
          | undefined;
        /** The service that is not connected. */
        service?: string | undefined;
        owner?: 'tenant' | 'end_user' | undefined;
        /** Where the end user connects it. */
        url?: string | undefined;
      }
    | undefined;
  /** This repeats an earlier event of the same interaction. */
  replayed?: boolean | undefined;
}

export interface UserAnsweredData {
  interaction_key: string;
  answer?: string | string[] | undefined;
  declined?: true | undefined;
  message?: string | undefined;
}

export interface WaitStartedData {
  wait_id: string;
  kind: 'timer' | 'signal' | 'run';
  /** Given by the agent; of a called run its agent. */
  name: string;
  /** When the wait ends at the latest. */
  until?: string | undefined;
  /** The called run. Absent if it was refused. */
  child_run_id?: string | undefined;
  child_session_id?: string | undefined;
}

export interface WaitEndedData {
  wait_id: string;
  kind: 'timer' | 'signal' | 'run';
  name: string;
  outcome: 'fired' | 'received' | 'timed_out' | 'completed' | 'failed' | 'cancelled' | 'refused';
  /** Why the called run failed; `denied` or `refused` if it was not started. */
  error_code?:
    | 'agent_error'
    | 'model_error'
    | 'tool_error'
    | 'run_timeout'
    | 'interaction_expired'
    | 'worker_lost'
    | 'tool_in_doubt'
    | 'sandbox_unavailable'
    | 'budget_exceeded'
    | 'output_invalid'
    | 'connection_missing'
    | 'internal_error'
    | 'denied'
    | 'refused'
    | undefined;
  message?: string | undefined;
}

export interface ConnectionUsedData {
  service: string;
  connection_id: string;
  owner: 'tenant' | 'end_user';
}

export interface ContextFileLoadedData {
  path: string;
  sha256: string;
  size_bytes: number;
}

export interface ContextFileChangedData {
  path: string;
  sha256: string;
  size_bytes: number;
  previous_sha256: string;
}

export interface ClaudeMdLoadedData {
  path: string;
  sha256: string;
  size_bytes: number;
}

export interface ClaudeMdChangedData {
  path: string;
  sha256: string;
  size_bytes: number;
  previous_sha256: string;
}

export interface AgentSkillsLoadedData {
  skills: Array<{
    name: string;
    description: string;
    path: string;
  }>;
  warnings: Array<{
    directory: string;
    reason: string;
  }>;
}

/** The payload of every event type that the specification names. */
export interface EventDataByType {
  /** The run was dispatched to the agent. */
  run_started: RunStartedData;
  /** The run was interrupted and will continue in another process: its server was stopped or lost. With `discard_from_event_id`, every `message_delta` from that event up to this one no longer belongs to the answer: the agent repeats it or says something else. Such an event may also come after `run_resumed`, when the agent says something else than before: it has `text_only`, and another `run_resumed` follows it. */
  run_interrupted: RunInterruptedData;
  /** The run executes again: what it waited for has come (`answered`), or it was interrupted before. */
  run_resumed: RunResumedData;
  /** The output of the agent, a JSON value. The last event before `run_completed`, which always follows. */
  run_output: RunOutputData;
  /** The run finished. The run resource holds the authoritative status. */
  run_completed: RunCompletedData;
  /** The run ended after a cancellation. */
  run_cancelled: RunCancelledData;
  /** The run ended with an error, which the run resource repeats. The `error` of an EventSource without data is a lost connection. */
  error: ErrorData;
  /** A piece of the answer. Join the pieces in id order, and drop those that a `run_interrupted` discards. A reader that drops nothing also gets the answer, unless an agent had to repeat itself: then the repetition follows `(interrupted, resuming)`. `output_text` of the run is always the answer. */
  message_delta: MessageDeltaData;
  /** The agent wants to call a tool that requires approval, and waits for a decision. */
  permission_request: PermissionRequestData;
  /** A decision on a permission was recorded. */
  permission_resolved: PermissionResolvedData;
  /** A person has allowed a call that more than one person has to allow. */
  permission_approved: PermissionApprovedData;
  /** Rules decided about a tool call without a person: it was denied, or a rule or an earlier permission allowed it. With `observed`, a rule that only observes has matched: it changed nothing, and `effect` is what it would do. */
  call_decided: CallDecidedData;
  /** The agent asked a question and waits for the answer. */
  user_question: UserQuestionData;
  /** An answer to a question was recorded, or the question was declined. */
  user_answered: UserAnsweredData;
  /** The run waits for a time, a message, or a run that it has called. */
  wait_started: WaitStartedData;
  /** It has come, the called run has ended, or the time for it is over. */
  wait_ended: WaitEndedData;
  /** The agent got this account for the leg that begins: of the end user of the session, or of the tenant. Never its secret. */
  connection_used: ConnectionUsedData;
  /** A context file was read into the context of the agent. */
  context_file_loaded: ContextFileLoadedData;
  /** A context file changed since it was last read. */
  context_file_changed: ContextFileChangedData;
  /** The project instructions were read into the context of the agent. */
  claude_md_loaded: ClaudeMdLoadedData;
  /** The project instructions changed since they were last read. */
  claude_md_changed: ClaudeMdChangedData;
  /** The agent's skills were copied into the session folder. */
  agent_skills_loaded: AgentSkillsLoadedData;
}
