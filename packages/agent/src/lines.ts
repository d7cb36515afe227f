import type { Json, JsonObject } from './json.ts';

/** The messages between the server and the kit: protocol 2 of `docs/guides/stdio-agents.md`. */
export interface StartMessage {
  readonly type: 'start';
  readonly protocol?: number;
  readonly run_id: string;
  readonly session_id: string;
  readonly run_number: number;
  readonly input: {
    readonly kind: 'prompt' | 'resume' | 'continue';
    readonly prompt: string;
    readonly answers?: Readonly<Record<string, Answer>>;
    readonly calls?: Readonly<Record<string, KnownCall>>;
    /** What else the run has waited for; absent for an older server, and if there is nothing. */
    readonly waits?: Readonly<Record<string, KnownWait>>;
  };
  readonly run_input: JsonObject;
  /** How the run's callback URLs begin, and the key that they are proved with; absent for an older server. */
  readonly callbacks?: { readonly url: string; readonly key: string };
  /** The span of the leg, while the server exports traces. */
  readonly traceparent?: string;
  readonly state: Json;
  /** Whether the agent's files have changed since the previous leg. */
  readonly agent_changed?: boolean;
  readonly workspace: string;
  readonly agent_folder: string;
  readonly agent: {
    /** The server decides which steps need an approval; the list is for programs that ask on their own. */
    readonly approval_required_tools: readonly string[];
    /** Null, or absent for an older server, if the agent declares none. */
    readonly output_schema?: JsonObject | null;
  };
}

export type Answer =
  | { readonly kind: 'permission'; readonly allow: true; readonly input: Json }
  | { readonly kind: 'permission'; readonly allow: false; readonly reason: string | null }
  | { readonly kind: 'question'; readonly values: readonly string[] }
  | { readonly kind: 'question'; readonly declined: true; readonly reason: string | null };

/** `number`: its place among the answers and the settled waits of the run, from 1, in the order in which they came. */
export type KnownWait =
  | { readonly state: 'open'; readonly kind: WaitKind }
  | (SettledWait & { readonly state: 'settled'; readonly number: number });

export type WaitKind = 'timer' | 'signal' | 'run';

export type SettledWait =
  | { readonly kind: 'timer'; readonly fired: true }
  | { readonly kind: 'signal'; readonly data: Json }
  | { readonly kind: 'signal'; readonly timed_out: true }
  | CalledRun;

/** The result of a call: the answer of the called run, or why it has none. */
export type CalledRun = { readonly kind: 'run' } & (
  | {
      readonly ok: true;
      readonly text: string;
      readonly is_cut?: true;
      readonly output?: Json;
      readonly run_id: string;
      readonly session_id: string;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      /** Absent if no run was started. */
      readonly run_id?: string;
      readonly session_id?: string;
    }
);

export type KnownCall =
  | { readonly state: 'ended'; readonly ok: boolean; readonly output: string }
  | { readonly state: 'left'; readonly note: string }
  | { readonly state: 'again'; readonly input: Json };

export type ServerMessage =
  | { readonly type: 'call_begun'; readonly call_id: string; readonly idempotency_key: string }
  | CallRefused
  | { readonly type: 'yield' }
  | { readonly type: 'cancel' }
  | { readonly type: 'ping' };

/** A rule says that a person has to allow the call first, or that it is not allowed (D-507). Nothing was begun. */
export type CallRefused = { readonly type: 'call_refused'; readonly call_id: string } & (
  | { readonly effect: 'ask' }
  | { readonly effect: 'deny'; readonly reason: string }
);

export type Option = string | { readonly label: string; readonly description?: string };
export type Touches = 'workspace' | 'outside' | 'both';

/** Text, usage or an event of the run. */
export type Emission =
  | { readonly type: 'message_delta'; readonly text: string }
  | UsageEmission
  | { readonly type: 'custom'; readonly name: string; readonly data: JsonObject };

/** Usage since the previous report. It is added to the sum of the leg when it is sent. */
export interface UsageEmission {
  readonly type: 'usage';
  readonly model?: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost?: number;
  readonly currency?: string;
}

export type KitMessage =
  | (Emission & { readonly point?: Point })
  | {
      readonly type: 'user_question';
      readonly ref: string;
      readonly question: string;
      readonly options?: readonly Option[];
      readonly multiple?: boolean;
    }
  | {
      readonly type: 'permission_request';
      readonly ref: string;
      readonly tool_name: string;
      readonly tool_input: Json;
    }
  | {
      readonly type: 'wait';
      readonly ref: string;
      readonly kind: WaitKind;
      readonly name: string;
      readonly for_seconds?: number;
      readonly until?: string;
      /** Of a called run, whose agent is the name. */
      readonly input?: JsonObject;
      readonly budget?: { readonly max_tokens?: number; readonly max_cost?: number };
    }
  | {
      readonly type: 'call_begin';
      readonly call_id: string;
      readonly tool_name: string;
      readonly tool_input: Json;
      readonly touches: Touches;
      readonly repeatable?: true;
      /** A request to a model, for which there are no rules (D-509). */
      readonly kind?: 'model';
    }
  | {
      readonly type: 'call_end';
      readonly call_id: string;
      readonly ok: boolean;
      readonly output: string;
      readonly point?: Point;
    }
  | { readonly type: 'checkpoint'; readonly state: Point; readonly recovery: true }
  | EndMessage;

export type EndMessage = { readonly type: 'end'; readonly state?: SessionState } & (
  | { readonly outcome: 'completed'; readonly output?: Json }
  | { readonly outcome: 'cancelled' | 'waiting' | 'yielded' }
  | {
      readonly outcome: 'error';
      readonly code: 'agent_error' | 'model_error' | 'tool_error';
      readonly message: string;
    }
);

/** The checkpoint of a session between two runs. */
export interface SessionState {
  readonly convoke: 1;
  readonly state: JsonObject;
}

/** A recovery point: with it and the results of its steps, the run can continue anywhere. */
export interface Point {
  readonly convoke: 1;
  readonly run: string;
  /** The state of the session where the replay begins. */
  readonly base: JsonObject;
  /** The state before the run, if a `save` has moved `base` on. */
  readonly before?: JsonObject;
  /** The last progress that was saved, and how many there were. */
  readonly saved?: { readonly number: number; readonly value: Json };
  /** How many emissions between steps it covers, since the last `save`. */
  readonly said: number;
  /** The order in which answers, and calls that were left, reached the function, by ref. */
  readonly order: Readonly<Record<string, number>>;
}
