/**
 * Everything that is measured, named once. Labels have values from short lists that the code knows; an id of a
 * tenant, client, session or run is never one, because each would be a series of its own for ever.
 */
export const metricTable = {
  runs: {
    kind: 'gauge',
    name: 'convoke_runs',
    labels: ['state'],
    means:
      'Runs that have not ended, in the whole service, by state; 10000 means that many or more.',
  },
  queueAge: {
    kind: 'gauge',
    name: 'convoke_queue_age_seconds',
    labels: [],
    means: 'How long the oldest ready run has waited for a worker; 0 when none waits.',
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
    means: 'Runs that this process ended because their worker was gone.',
  },
  leasesLost: {
    kind: 'counter',
    name: 'convoke_leases_lost_total',
    labels: [],
    means: 'Legs that this process gave up because their run was no longer its own.',
  },
  eventsAppended: {
    kind: 'counter',
    name: 'convoke_events_appended_total',
    labels: [],
    means: 'Events that became durable.',
  },
  appendSeconds: {
    kind: 'histogram',
    name: 'convoke_append_seconds',
    labels: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    means:
      'Time to make what a leg emitted durable, from asking for the transaction to its commit.',
  },
  streamsOpen: {
    kind: 'gauge',
    name: 'convoke_streams_open',
    labels: [],
    means: 'Event streams that this process serves now.',
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
    means: 'Time a wake-up that this process sent to itself took through PostgreSQL or NATS.',
  },
  wakeupsMissed: {
    kind: 'counter',
    name: 'convoke_wakeups_missed_total',
    labels: [],
    means: 'Times the poll of a followed run found events before a wake-up told of them.',
  },
  gateDecisions: {
    kind: 'counter',
    name: 'convoke_gate_decisions_total',
    labels: ['status', 'code'],
    means: 'Callers let in (200, allowed) or refused at the gate, by error code.',
  },
  requests: {
    kind: 'counter',
    name: 'convoke_http_requests_total',
    labels: ['operation', 'status'],
    means: 'Requests answered; a stream counts when it ends. Status 0: the client left first.',
  },
  requestSeconds: {
    kind: 'histogram',
    name: 'convoke_http_request_seconds',
    labels: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    means: 'Time until an answer was there to be written, its request body read.',
  },
  refusals: {
    kind: 'counter',
    name: 'convoke_http_refusals_total',
    labels: ['status', 'code'],
    means: 'Requests that were refused or failed, by error code; rate_limited is among them.',
  },
  tokenRequests: {
    kind: 'counter',
    name: 'convoke_token_requests_total',
    labels: ['outcome'],
    means: 'Exchanges of a client secret: issued, or the error code.',
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
    means: 'Memory of the process, without that of the agents it started.',
  },
  eventLoopLag: {
    kind: 'gauge',
    name: 'convoke_event_loop_lag_seconds',
    labels: ['statistic'],
    means: 'How late timers fire since the last scrape: mean, p99, max.',
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
} as const satisfies Readonly<Record<string, MetricDescription>>;

export interface MetricDescription {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: `convoke_${string}`;
  /** At most two: what is measured often must not have to build a key. */
  readonly labels: readonly [] | readonly [string] | readonly [string, string];
  readonly means: string;
  /** Upper bounds, rising. */
  readonly buckets?: readonly number[];
}

/** One value for each label, in the order of the table. */
type Values<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

export interface Counter<Labels extends readonly string[]> {
  add(by: number, ...labels: Values<Labels>): void;
}

export interface Histogram<Labels extends readonly string[]> {
  observe(value: number, ...labels: Values<Labels>): void;
}

/** One number, or one for each value of the label. Undefined: nothing to show now. */
export type Reading = number | Readonly<Record<string, number>> | undefined;

/** Read when somebody asks for the metrics, and only then. */
export interface Gauge {
  readFrom(source: () => Reading | Promise<Reading>): void;
}

type Instrument<Described extends MetricDescription> = Described['kind'] extends 'counter'
  ? Counter<Described['labels']>
  : Described['kind'] extends 'histogram'
    ? Histogram<Described['labels']>
    : Gauge;

export type Instruments = {
  readonly [Key in keyof typeof metricTable]: Instrument<(typeof metricTable)[Key]>;
};

export interface Metrics extends Instruments {
  /** Seconds of a clock that never goes back, for measuring how long something took. */
  seconds(): number;
}

/** The metrics as text for Prometheus. */
export interface MetricsPage {
  render(): Promise<string>;
}
