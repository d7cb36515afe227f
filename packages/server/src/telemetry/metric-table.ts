import type { Counter, Gauge, Histogram, Instruments, LabelNames } from '../ports/metrics.ts';

export interface MetricDescription<Labels extends LabelNames = LabelNames> {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: `convoke_${string}` | `gen_ai_${string}`;
  readonly labels: Readonly<Labels>;
  readonly means: string;
  /** Name and attributes for a collector, instead of our own. */
  readonly convention?: Convention;
  /** Upper bounds, rising. */
  readonly buckets?: readonly number[];
}

/** A metric in the terms of OpenTelemetry. */
export interface Convention {
  readonly name: `gen_ai.${string}`;
  readonly unit: string;
  /** In the order of our labels. */
  readonly labels: readonly string[];
  /** `gen_ai.operation.name`, where all that is measured is one operation. */
  readonly operation: string;
}

type DescriptionOf<Instrument> =
  Instrument extends Counter<infer Labels>
    ? MetricDescription<Labels> & { readonly kind: 'counter' }
    : Instrument extends Histogram<infer Labels>
      ? MetricDescription<Labels> & {
          readonly kind: 'histogram';
          readonly buckets: readonly number[];
        }
      : Instrument extends Gauge<infer Labels>
        ? MetricDescription<Labels> & { readonly kind: 'gauge' }
        : never;

/** One description for each instrument, of its kind and with its labels: a missing or extra one does not compile. */
type MetricTable = { readonly [Key in keyof Instruments]: DescriptionOf<Instruments[Key]> };

/** The bounds that the conventions give for requests to models and for tool calls, in seconds. */
const durations = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/** Those for agents. */
const invocations = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
/** Those for tokens: powers of 4. */
const tokens = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

/** Name, labels and help text of every metric. */
export const metricTable = {
  runs: {
    kind: 'gauge',
    name: 'convoke_runs',
    labels: ['state'],
    means: 'Unfinished runs of the whole service, by state; 10000 means 10000 or more.',
  },
  waits: {
    kind: 'gauge',
    name: 'convoke_waits',
    labels: ['kind'],
    means:
      'What runs of the whole service wait for other than people: timer, signal (a message) or run (a called one); 10000 means 10000 or more.',
  },
  queueAge: {
    kind: 'gauge',
    name: 'convoke_queue_age_seconds',
    labels: [],
    means: 'Age of the oldest ready run that no worker has claimed; 0 when there is none.',
  },
  outboxAge: {
    kind: 'gauge',
    name: 'convoke_outbox_age_seconds',
    labels: [],
    means: 'Age of the oldest notice that has no number yet; 0 when there is none.',
  },
  runsEnded: {
    kind: 'counter',
    name: 'convoke_runs_ended_total',
    labels: ['status', 'error_code'],
    means: 'Runs that this process ended.',
  },
  runsRecovered: {
    kind: 'counter',
    name: 'convoke_runs_recovered_total',
    labels: [],
    means: 'Runs that this process ended because their worker had died.',
  },
  runsInterrupted: {
    kind: 'counter',
    name: 'convoke_runs_interrupted_total',
    labels: [],
    means:
      'Runs that lost their worker or were cut by a drain, and continue from their last recovery point.',
  },
  runsHandedOver: {
    kind: 'counter',
    name: 'convoke_runs_handed_over_total',
    labels: [],
    means: 'Runs that this process handed over at a safe point while it drained.',
  },
  drainCut: {
    kind: 'counter',
    name: 'convoke_drain_cut_total',
    labels: [],
    means: 'Legs that did not reach a safe point before the drain ended.',
  },
  runsResumed: {
    kind: 'counter',
    name: 'convoke_runs_resumed_total',
    labels: ['reason'],
    means: 'Runs that this process continued.',
  },
  callsInDoubt: {
    kind: 'counter',
    name: 'convoke_calls_in_doubt_total',
    labels: [],
    means: 'Tool calls that may or may not have completed.',
  },
  callsDecided: {
    kind: 'counter',
    name: 'convoke_calls_decided_total',
    labels: ['effect', 'by'],
    means: 'Tool calls about which a rule, an earlier permission or the end of the time decided.',
  },
  recoveryExhausted: {
    kind: 'counter',
    name: 'convoke_recovery_exhausted_total',
    labels: [],
    means: 'Runs that ended because they lost their worker too often.',
  },
  connectionRefreshes: {
    kind: 'counter',
    name: 'convoke_connection_refreshes_total',
    labels: ['outcome'],
    means: 'Tokens of connections that this process asked to refresh.',
  },
  webhookTries: {
    kind: 'counter',
    name: 'convoke_webhook_tries_total',
    labels: ['outcome'],
    means:
      'Tries of webhook deliveries: delivered, pending (tried again later), failed or blocked.',
  },
  scheduleFires: {
    kind: 'counter',
    name: 'convoke_schedule_fires_total',
    labels: ['outcome'],
    means: 'Slots of schedules that this process dealt with: started, skipped or refused.',
  },
  waitsSettled: {
    kind: 'counter',
    name: 'convoke_waits_settled_total',
    labels: ['kind', 'outcome'],
    means: 'Times and messages that runs waited for and this process settled.',
  },
  waitsLate: {
    kind: 'histogram',
    name: 'convoke_waits_late_seconds',
    labels: [],
    buckets: [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 900, 3600],
    means: 'How long after its time a wait was settled by the clock.',
  },
  leasesLost: {
    kind: 'counter',
    name: 'convoke_leases_lost_total',
    labels: [],
    means: 'Legs that this process stopped because it had lost the lease of the run.',
  },
  eventsAppended: {
    kind: 'counter',
    name: 'convoke_events_appended_total',
    labels: [],
    means: 'Events that became durable.',
  },
  usageTokens: {
    kind: 'counter',
    name: 'convoke_gen_ai_usage_tokens_total',
    labels: ['token_type'],
    means:
      'Tokens that agents reported to this process: input, output; cached_input is part of input.',
  },
  usageCost: {
    kind: 'counter',
    name: 'convoke_gen_ai_usage_cost_total',
    labels: [],
    means: 'Cost of these tokens as far as it is known, in the currency of the deployment.',
  },
  tokenUsage: {
    kind: 'histogram',
    name: 'gen_ai_client_token_usage',
    convention: {
      name: 'gen_ai.client.token.usage',
      unit: '{token}',
      labels: ['gen_ai.token.type', 'gen_ai.provider.name', 'gen_ai.request.model'],
      operation: 'chat',
    },
    labels: ['gen_ai_token_type', 'gen_ai_provider_name', 'gen_ai_request_model'],
    buckets: tokens,
    means: 'Tokens of each report of usage, by type (input, output), provider and model.',
  },
  requestToModelSeconds: {
    kind: 'histogram',
    name: 'gen_ai_client_operation_duration_seconds',
    convention: {
      name: 'gen_ai.client.operation.duration',
      unit: 's',
      labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'error.type'],
      operation: 'chat',
    },
    labels: ['gen_ai_provider_name', 'gen_ai_request_model', 'error_type'],
    buckets: durations,
    means: 'Time of each request to a model, where the framework reports requests.',
  },
  invocationSeconds: {
    kind: 'histogram',
    name: 'gen_ai_invoke_agent_duration_seconds',
    convention: {
      name: 'gen_ai.invoke_agent.duration',
      unit: 's',
      labels: ['gen_ai.agent.name', 'error.type'],
      operation: 'invoke_agent',
    },
    labels: ['gen_ai_agent_name', 'error_type'],
    buckets: invocations,
    means: 'Time of each run from its start request to its end, waits included.',
  },
  toolSeconds: {
    kind: 'histogram',
    name: 'gen_ai_execute_tool_duration_seconds',
    convention: {
      name: 'gen_ai.execute_tool.duration',
      unit: 's',
      labels: ['gen_ai.tool.name', 'error.type'],
      operation: 'execute_tool',
    },
    labels: ['gen_ai_tool_name', 'error_type'],
    buckets: durations,
    means: 'Time of each tool call that an agent showed in the log of its run.',
  },
  budgetsReached: {
    kind: 'counter',
    name: 'convoke_budgets_reached_total',
    labels: [],
    means: 'Runs that this process ended because of a ceiling or a budget.',
  },
  appendSeconds: {
    kind: 'histogram',
    name: 'convoke_append_seconds',
    labels: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    means: 'Time to append the events of a leg, from requesting the transaction to its commit.',
  },
  streamsOpen: {
    kind: 'gauge',
    name: 'convoke_streams_open',
    labels: [],
    means: 'Event streams that this process is serving.',
  },
  eventsDelivered: {
    kind: 'counter',
    name: 'convoke_events_delivered_total',
    labels: [],
    means: 'Events written to streams.',
  },
  wakeupLag: {
    kind: 'histogram',
    name: 'convoke_wakeup_lag_seconds',
    labels: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    means:
      'Round-trip time of a wake-up that this process sends to itself through PostgreSQL or NATS.',
  },
  wakeupsMissed: {
    kind: 'counter',
    name: 'convoke_wakeups_missed_total',
    labels: [],
    means: 'Times a poll of a followed run found events before their wake-up arrived.',
  },
  gateDecisions: {
    kind: 'counter',
    name: 'convoke_gate_decisions_total',
    labels: ['status', 'code'],
    means: 'Callers that the gate allowed (200, allowed) or refused, by error code.',
  },
  requests: {
    kind: 'counter',
    name: 'convoke_http_requests_total',
    labels: ['operation', 'status'],
    means:
      'Requests answered; a stream counts when it ends. Status 0: the client disconnected first.',
  },
  requestSeconds: {
    kind: 'histogram',
    name: 'convoke_http_request_seconds',
    labels: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    means: 'Time until the response to a request is ready, reading the request body included.',
  },
  refusals: {
    kind: 'counter',
    name: 'convoke_http_refusals_total',
    labels: ['status', 'code'],
    means: 'Requests refused or failed, by error code, rate_limited included.',
  },
  tokenRequests: {
    kind: 'counter',
    name: 'convoke_token_requests_total',
    labels: ['outcome'],
    means: 'Token requests with a client secret, by outcome: issued, or the error code.',
  },
  passLastSuccess: {
    kind: 'gauge',
    name: 'convoke_pass_last_success_timestamp_seconds',
    labels: ['pass'],
    means: 'When each background pass of this process last succeeded, as Unix time.',
  },
  passDuration: {
    kind: 'gauge',
    name: 'convoke_pass_duration_seconds',
    labels: ['pass'],
    means: 'Duration of the latest execution of each background pass.',
  },
  passFailures: {
    kind: 'counter',
    name: 'convoke_pass_failures_total',
    labels: ['pass'],
    means: 'Executions of a background pass that failed; each is retried in its next period.',
  },
  databaseConnections: {
    kind: 'gauge',
    name: 'convoke_database_connections',
    labels: ['state'],
    means: 'PostgreSQL connections in use and idle, and callers waiting for one.',
  },
  residentMemory: {
    kind: 'gauge',
    name: 'convoke_process_resident_memory_bytes',
    labels: [],
    means: 'Resident memory of the process, without the agents it started.',
  },
  eventLoopLag: {
    kind: 'gauge',
    name: 'convoke_event_loop_lag_seconds',
    labels: ['statistic'],
    means:
      'How late timers fire since this reader (the page, the collector) last read: mean, p99, max.',
  },
  uptime: {
    kind: 'gauge',
    name: 'convoke_process_uptime_seconds',
    labels: [],
    means: 'Time since the process started.',
  },
  build: {
    kind: 'gauge',
    name: 'convoke_build_info',
    labels: ['version'],
    means: 'Always 1.',
  },
} as const satisfies MetricTable;
