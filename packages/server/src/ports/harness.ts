import type { RunId, SessionId } from '@convoke/contract';
import type { Agent, RecoveryPolicy } from '../domain/agent.ts';
import type { ContextTexts } from '../domain/context.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { AfterLoss } from '../domain/run/recovery.ts';
import type { InterruptionReason } from '../domain/run/run-parts.ts';
import type { CallIntent, CallResult, KnownCall } from '../domain/run/tool-call.ts';
import type { Cost } from '../domain/usage/prices.ts';
import type { Allowance, ModelRequest } from '../domain/usage/model-request.ts';
import type { TokenCounts } from '../domain/usage/usage.ts';
import type { CallRequest, KnownWait, WaitRequest } from '../domain/run/wait.ts';
import type { CallbackMaker } from './callbacks.ts';
import type { LegConnections } from './connections/leg-connections.ts';
import type { ProcessLimits, SandboxMode } from './sandbox.ts';

/**
 * One framework that can run agents. A run is a series of legs; a leg ends `completed`, `cancelled`,
 * `error`, `waiting` or `yielded`. After `waiting` nothing runs: the next leg starts from the last checkpoint and the
 * answers. After `yielded` the next leg continues from the last checkpoint, in another process. Adapters never touch
 * the database and never make ids.
 *
 * The registry and the workers handle a harness as `Harness<unknown>`. That `start` gets settings which its own
 * `read` returned is not checked by the compiler (methods are bivariant); it holds because `agent.framework`
 * selects the harness both times.
 */
export interface Harness<Settings = unknown> {
  readonly framework: string;
  /** Whether a leg can continue from its last recovery point after its worker was lost (D-88). Default: `none`. */
  readonly afterLoss?: AfterLoss;
  /**
   * Whether a leg that resumes continues after `context.cut`. What was said after the last recovery point then stays in
   * the answer (D-271), unless the agent wants cut messages again from their beginning (`recovery.cut_message`).
   */
  readonly keepsCutText?: boolean;
  /** Whether its agents read nothing but words: `context.prompt` then has the whole input (D-563). */
  readonly readsWords?: boolean;
  /**
   * How its agents return a value (D-568): `native` with their end, `submitted` by a call that the harness adds. An
   * agent with an `output_schema` is refused where it is `none`, the default.
   */
  readonly output?: 'native' | 'submitted' | 'none';
  /** The default of `recovery.on_loss`; `resume` if absent. */
  readonly onLoss?: RecoveryPolicy['onLoss'];
  /**
   * Number of the format of its checkpoints, 1 if absent. Raise it when servers of the release before cannot read them:
   * they then leave such runs to newer servers (D-99).
   */
  readonly checkpointFormat?: number;
  /** Whether its legs report usage: then a lost leg has used more than it reported (D-97). */
  readonly countsTokens?: boolean;
  /**
   * Whether every leg starts the agent from its beginning, with all answers and results that the run has: a leg behind
   * an answer is then a `continue`, too (D-176).
   */
  readonly replays?: boolean;
  /**
   * Whether its agents may call other agents (`agents` of `agent.yaml`). If it does not replay, the leg of a run that
   * has waited is a `continue` with all that has come (D-925), and it raises once more what it still waits for.
   */
  readonly callsAgents?: boolean;
  /** Whether its agents get a tool to sleep with (`sleep` of `agent.yaml`); others call a function, or cannot. */
  readonly hasSleepTool?: boolean;
  /** Whether legs need `context.texts`; they are dropped otherwise, so that long legs do not hold them in memory. */
  readonly usesContextTexts?: boolean;
  /** Whether its agents are programs, which run in the sandbox. */
  readonly runsPrograms?: boolean;
  /** Names what the server lacks to run its agents; undefined if nothing. Absent: it needs nothing more. */
  lacks?(): string | undefined;
  /** Whether an approved call can only run with the input that was shown: `updated_input` is then refused (D-38). */
  readonly hasFixedToolInput?: boolean;
  /** Whether its legs report each request to a model with `LegContext.asked`. */
  readonly reportsRequests?: boolean;
  /** Whether its reports name the cost, so that the operator need not price its models. */
  readonly reportsCost?: boolean;
  /**
   * Reads the keys of `agent.yaml` that only this framework uses. Called once each time the folder is read; every leg
   * gets the result as `context.settings`.
   */
  read(agent: DeclaredAgent): ReadSettings<Settings>;
  /**
   * Looks whether the agent can run at all, where that is worth more than reading its settings. Called each time the
   * folder is read.
   */
  prepare?(agent: PreparingAgent<Settings>): Promise<PreparedAgent>;
  start(input: LegInput, context: LegContext<Settings>): Leg;
  /** Sessions for which a process or connection is kept warm for the next leg. */
  kept?(): readonly SessionId[];
  /** Closes the processes that are kept warm for a session. Does not affect a leg that executes. */
  release?(sessionId: SessionId): Promise<void>;
}

export interface PreparingAgent<Settings> extends Pick<Agent, 'name' | 'folder'> {
  readonly settings: Settings;
}

export type PreparedAgent =
  | {
      readonly ok: true;
      /** Equal for equal files beside `agent.yaml`. */
      readonly digest: string;
      /** Warnings for the author of an agent that can run. */
      readonly warnings?: readonly string[];
    }
  /** `isTransient`: a later attempt may succeed although no file has changed. */
  | { readonly ok: false; readonly problem: string; readonly isTransient?: true };

export type ReadSettings<Settings> =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly AgentProblem[] };

/** An agent as its folder declares it, before its harness has read the settings. */
export interface DeclaredAgent
  extends Omit<Agent, 'settings' | 'hasFixedToolInput' | 'reportsCost' | 'digest'> {
  readonly declared: FrameworkKeys;
}

/** The keys of `agent.yaml` that only frameworks use, with every default filled in (`agents/agent-schema.ts`). */
export interface FrameworkKeys {
  /** The text of the file that `instructions` names, else of `instructions.md`. */
  readonly instructions: string | undefined;
  readonly command: readonly string[];
  readonly entry: string | undefined;
  readonly url: string | undefined;
  /** References to secrets are not resolved. */
  readonly env: Readonly<Record<string, string>>;
  readonly tools: readonly string[];
  /** Not checked: `agents/mcp-servers.ts` reads them for the frameworks that have a use for them. */
  readonly mcpServers: Readonly<Record<string, JsonObject>>;
  readonly asksUser: boolean;
  readonly sleeps: boolean;
  readonly stepsMax: number;
  readonly limits: ProcessLimits;
  readonly sandbox: { readonly mode: SandboxMode; readonly network: readonly string[] };
  readonly acp: {
    readonly authMethod: string | undefined;
    readonly mode: string | undefined;
    readonly meta: JsonObject | undefined;
  };
  readonly code: { readonly keepSeconds: number };
  readonly script: Json | undefined;
}

/** A problem in an `agent.yaml`, with its path in the document. */
export interface AgentProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export type LegInput =
  | { readonly kind: 'prompt' }
  /** Answers to every interaction that the previous leg left pending, keyed by `ref`. */
  | { readonly kind: 'resume'; readonly answers: ReadonlyMap<string, Answer> }
  /**
   * Continues from the last recovery point, or from the start if there is none. `answers` are all that the run has got;
   * `calls` are its calls by `ref`, and a call that is not among them was never begun; `waits` are what else it has
   * asked for.
   */
  | {
      readonly kind: 'continue';
      /**
       * `drained`: the previous leg was asked to yield or was cut; `worker_lost`: its process is gone; `answered`: what
       * it waited for has come, and its framework replays, or the run waits for more than people.
       */
      readonly reason: InterruptionReason | 'answered';
      readonly answers: ReadonlyMap<string, Answer>;
      readonly calls: ReadonlyMap<string, KnownCall>;
      readonly waits?: ReadonlyMap<string, KnownWait>;
      /** Whether the agent was edited since the last checkpoint. */
      readonly isOtherAgent?: boolean;
    };

export type Answer =
  /** `input` is the exact input that was approved: the adapter must run this input only (D-39). */
  | { readonly kind: 'permission'; readonly allow: true; readonly input: Json }
  /** `by`: a rule or the end of its time denied it, and the reason says so (D-510, D-522); otherwise a person did. */
  | {
      readonly kind: 'permission';
      readonly allow: false;
      readonly reason?: string;
      readonly by?: 'rule' | 'expiry';
    }
  | { readonly kind: 'question'; readonly values: readonly string[] }
  | { readonly kind: 'question'; readonly declined: true; readonly reason?: string };

/** As much of an agent as those that call it know. */
export type CalledAgent = Pick<Agent, 'name' | 'description' | 'input'>;

export interface LegContext<Settings = unknown> {
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly agent: Agent;
  /** Those of the agents that it may call which the tenant has; absent where it calls none. */
  readonly called?: readonly CalledAgent[] | undefined;
  /** What `Harness.read` returned for this agent. */
  readonly settings: Settings;
  /** The accounts of the tenant and of the session's end user; absent for an agent that declares none. */
  readonly connections?: LegConnections | undefined;
  /** 1 for the first run of the session. */
  readonly runNumber: number;
  /** Empty if the input has none. */
  readonly prompt: string;
  readonly input: JsonObject;
  /** The session folder: seed files, `files/`, and files the agent wrote. */
  readonly sessionFolder: string;
  /** HOME of the session, outside the session folder. */
  readonly stateDir: string;
  /** Context files, CLAUDE.md and skills as they were announced; empty unless the harness uses them. */
  readonly texts: ContextTexts;
  /** The last checkpoint of this session, from any of its runs. */
  readonly state: Json | undefined;
  /** Aborted when the run is cancelled, times out or loses its lease. */
  readonly signal: AbortSignal;
  /**
   * True while this worker holds the run's lease. Check it right before a tool starts: a process that was
   * suspended does not know yet that its lease expired.
   */
  readonly holdsLease: () => boolean;
  readonly effects: Effects;
  /** The end of the run's answer so far, of which nothing was discarded; absent in its first leg. */
  readonly said?: string | undefined;
  /**
   * Text after the last recovery point that stays in the answer: the leg continues exactly after it. Empty unless
   * the harness keeps such text (`keepsCutText`) and the leg continues.
   */
  readonly cut?: string;
  /** The remaining budget of the run. Ask before each request to a model (D-133). */
  readonly allowance?: () => Promise<Allowance>;
  /** Reports a request to a model once it is over. */
  readonly asked?: (request: ModelRequest) => void;
  /** Makes the run's callback URLs. */
  readonly callbacks?: () => CallbackMaker;
  /** Present only while traces are exported (D-588). */
  readonly trace?: LegTracing | undefined;
  /** The cost of this usage of the agent's model; undefined if the model has no price (D-131). */
  readonly costOf?: (used: TokenCounts) => Cost | undefined;
}

/** The trace of the run, in the W3C format, for programs and services that a leg calls. */
export interface LegTracing {
  /** The leg as the parent. */
  readonly traceparent: string;
  /** A tool call of the leg as the parent, by the id that its events show. */
  callParent(call: string): string;
}

/** The ledger of tool calls with an effect (D-80). */
export interface Effects {
  /** Decides by the rules, and resolves when intent or denial is durable. Only a `begun` call is made (D-507). */
  begin(call: NewCall): Promise<BeginOutcome>;
  /** The answer of `begin`, without writing. `lately`: to show a call, by rules read for an earlier one (D-906). */
  decide(call: CallToDecide, when?: 'lately'): Promise<DecideOutcome>;
  /**
   * Resolves when the result is durable. Has no effect for a free call that was not written down. Only then may the
   * model get it. A recovery point that covers what the call said is stored in the same transaction (D-175).
   */
  end(ref: string, result: CallResult, point?: Json): Promise<void>;
  /** The key of a call, the same in every attempt, by which a tool can recognize a repetition (D-82). */
  key(ref: string): string;
}

export type NewCall = Pick<
  CallIntent,
  'ref' | 'toolName' | 'input' | 'touches' | 'isRepeatable'
> & {
  /** The whole input, for the rules, where `input` is only the part that is kept. */
  readonly wholeInput?: Json;
  /** It changes nothing, or may be repeated: without a rule about its tool it is not written down (D-508). */
  readonly isFree?: boolean;
  /** No tool call, so no rule is about it: a request to a model, or the caller's message to a remote agent (D-509). */
  readonly kind?: 'model' | 'message';
  /** The id of the call in the framework's events, if it has one (D-192). */
  readonly toolCallId?: string;
};

export type CallToDecide = Pick<NewCall, 'ref' | 'toolName' | 'input' | 'wholeInput' | 'kind'>;

export type BeginOutcome = { readonly kind: 'begun' } | NotBegun;
export type DecideOutcome =
  /** `isNamed`: some rule is about the tool, so another input of it may be decided differently. */
  { readonly kind: 'allowed'; readonly isNamed: boolean } | NotBegun;

export type NotBegun =
  /** A person has to allow it: raise a `permission_request`, and begin it again after the answer. */
  | { readonly kind: 'ask' }
  /** The agent gets the reason as the result of the call, and continues (D-510). */
  | { readonly kind: 'denied'; readonly reason: string }
  /** Do not carry it out: the run is in other hands, or knows the call. */
  | { readonly kind: 'left' };

export interface Leg extends AsyncIterable<HarnessEvent> {
  /** True when the executing leg took the answer; false when the answer has to come with a resume leg. */
  answer(ref: string, answer: Answer): Promise<boolean>;
  /** Asks the agent to stop; the leg then ends `cancelled`. After the grace period `kill` follows. */
  cancel(): Promise<void>;
  /**
   * Asks for a safe point, because this process is about to stop (D-85). The leg then ends `yielded`, with nothing in
   * flight and a recovery point behind everything it emitted; or it ends as it would have. Absent: the leg cannot be
   * handed over.
   */
  yield?(): Promise<void>;
  /** Ends every process of the leg at once. */
  kill(): Promise<void>;
  /** Removes the secrets of the leg from a text that its programs chose, such as the name of a file. */
  redact?(text: string): Promise<string>;
}

export type HarnessEvent =
  | {
      readonly type: 'message_delta';
      readonly text: string;
      readonly model?: string;
      /** A recovery point after this text, stored in the same transaction: a leg that resumes never says it again. */
      readonly point?: Json;
    }
  | {
      readonly type: 'permission_request';
      readonly ref: string;
      /** The id of the call in the framework's events, if it has one (D-192). */
      readonly toolCallId?: string;
      readonly toolName: string;
      readonly toolInput: Json;
    }
  | {
      readonly type: 'user_question';
      readonly ref: string;
      readonly question: string;
      readonly options?: readonly { readonly label: string; readonly description?: string }[];
      readonly multiple?: boolean;
    }
  /** The run waits for a time, a message (without `due` as long as for a person) or a run that it calls. */
  | ({ readonly type: 'wait' } & Omit<WaitRequest, 'due'> & Partial<Pick<WaitRequest, 'due'>>)
  | ({ readonly type: 'wait' } & CallRequest)
  /**
   * Stored in the same transaction as the events before it and as `usage`. `recovery`: a leg of this run can continue
   * from it.
   */
  | {
      readonly type: 'checkpoint';
      readonly state: Json;
      readonly recovery?: true;
      readonly usage?: UsageReport;
    }
  | UsageReport
  /** Becomes `<framework>.<name>`, a non-terminal event. `point`: a recovery point after it, in one transaction. */
  | {
      readonly type: 'custom';
      readonly name: string;
      readonly data: JsonObject;
      readonly point?: Json;
    }
  | LegEnd;

/**
 * What the leg has used of a model so far: each report replaces the one before it of the same model. Input includes
 * what was read from a cache, output includes reasoning.
 */
export interface UsageReport {
  readonly type: 'usage';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  /** A message of the model was cut, so its usage is unknown. */
  readonly isPartial?: boolean;
  /** Absent: the agent's own model. */
  readonly model?: string;
  /** The cost that the agent's program names, for the same tokens. It counts before the operator's prices (D-131). */
  readonly cost?: { readonly micros: number; readonly currency: string };
}

export type LegEnd =
  /** `yielded` only after `yield` was called. */
  (
    | {
        readonly type: 'end';
        readonly outcome: 'completed';
        /** The value that the agent returns (D-565). */
        readonly output?: Json;
      }
    | { readonly type: 'end'; readonly outcome: 'cancelled' | 'waiting' | 'yielded' }
    /** After `yield`: a call was stopped on its way, so the run continues as after a loss, if its agent allows that. */
    | { readonly type: 'end'; readonly outcome: 'cut' }
    | {
        readonly type: 'end';
        readonly outcome: 'error';
        readonly code:
          | 'agent_error'
          | 'model_error'
          | 'tool_error'
          | 'sandbox_unavailable'
          | 'budget_exceeded'
          | 'connection_missing'
          /** A leg that was to continue cannot: the agent's own record of the run is gone. */
          | 'worker_lost';
        readonly message: string;
      }
  ) & {
    /** The last checkpoint, stored together with the end: a leg of this run must never continue from it. */
    readonly state?: Json;
  };
