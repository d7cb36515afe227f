/**
 * Names of the labels of a metric. At most three, so that counting builds no key.
 *
 * The values of a label come from a short list in the code. The id of a tenant, client, session or run is never a
 * label value: each id would create a series that is kept for ever.
 */
export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string];

/** Only histograms have three: those that a convention requires. */
type FewLabels = Exclude<LabelNames, readonly [string, string, string]>;

/** One value for each label, in the order of the names. */
type Values<Labels extends LabelNames> = { readonly [Index in keyof Labels]: string };

export interface Counter<Labels extends FewLabels = []> {
  add(by: number, ...labels: Values<Labels>): void;
}

export interface Histogram<Labels extends LabelNames = []> {
  observe(value: number, ...labels: Values<Labels>): void;
}

/** One number, or one for each value of the label. Undefined: the gauge is left out of the page. */
export type Reading<Labels extends LabelNames = LabelNames> =
  | (Labels extends readonly [] ? number : Readonly<Record<string, number>>)
  | undefined;

/** Read each time the metrics are rendered, and only then. */
export interface Gauge<Labels extends LabelNames = []> {
  readFrom(source: () => Reading<Labels> | Promise<Reading<Labels>>): void;
}

/** Every metric of the service with its kind and labels; `telemetry/metric-table.ts` describes each. */
export interface Instruments {
  readonly runs: Gauge<['state']>;
  readonly waits: Gauge<['kind']>;
  readonly queueAge: Gauge;
  readonly outboxAge: Gauge;
  readonly runsEnded: Counter<['status', 'error_code']>;
  readonly runsRecovered: Counter;
  readonly runsInterrupted: Counter;
  readonly runsHandedOver: Counter;
  readonly drainCut: Counter;
  readonly runsResumed: Counter<['reason']>;
  readonly callsInDoubt: Counter;
  readonly callsDecided: Counter<['effect', 'by']>;
  readonly recoveryExhausted: Counter;
  readonly webhookTries: Counter<['outcome']>;
  readonly connectionRefreshes: Counter<['outcome']>;
  readonly scheduleFires: Counter<['outcome']>;
  readonly waitsSettled: Counter<['kind', 'outcome']>;
  readonly waitsLate: Histogram;
  readonly leasesLost: Counter;
  readonly eventsAppended: Counter;
  readonly usageTokens: Counter<['token_type']>;
  readonly usageCost: Counter;
  readonly tokenUsage: Histogram<
    ['gen_ai_token_type', 'gen_ai_provider_name', 'gen_ai_request_model']
  >;
  readonly requestToModelSeconds: Histogram<
    ['gen_ai_provider_name', 'gen_ai_request_model', 'error_type']
  >;
  readonly invocationSeconds: Histogram<['gen_ai_agent_name', 'error_type']>;
  readonly toolSeconds: Histogram<['gen_ai_tool_name', 'error_type']>;
  readonly budgetsReached: Counter;
  readonly appendSeconds: Histogram;
  readonly streamsOpen: Gauge;
  readonly eventsDelivered: Counter;
  readonly wakeupLag: Histogram;
  readonly wakeupsMissed: Counter;
  readonly gateDecisions: Counter<['status', 'code']>;
  readonly requests: Counter<['operation', 'status']>;
  readonly requestSeconds: Histogram<['operation']>;
  readonly refusals: Counter<['status', 'code']>;
  readonly tokenRequests: Counter<['outcome']>;
  readonly passLastSuccess: Gauge<['pass']>;
  readonly passDuration: Gauge<['pass']>;
  readonly passFailures: Counter<['pass']>;
  readonly databaseConnections: Gauge<['state']>;
  readonly residentMemory: Gauge;
  readonly eventLoopLag: Gauge<['statistic']>;
  readonly uptime: Gauge;
  readonly build: Gauge<['version']>;
}

export interface Metrics extends Instruments {
  /** Seconds of a monotonic clock, to measure durations. */
  seconds(): number;
}

/** The metrics in Prometheus' text format. */
export interface MetricsPage {
  render(): Promise<string>;
}
