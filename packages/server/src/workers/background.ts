import { Dispatcher } from '../execution/dispatcher.ts';
import { LeaseWatch } from '../execution/lease-watch.ts';
import type { Load } from '../execution/run-slots.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { RunSlots } from '../ports/run-slots.ts';
import { type BackgroundServices, type PassName, catalogue } from './catalogue.ts';
import { type Driver, drive } from './driver.ts';
import { paced } from './paced.ts';
import type { PassState } from './pass-record.ts';
import { PassReport } from './pass-report.ts';
import { WebhookDeliverer } from './webhook-deliverer.ts';
import { type Leases, reconcileRuns } from './reconcile-runs.ts';

export interface BackgroundOptions {
  /** Name under which this process signs its leases. */
  readonly owner: string;
  /** Name of the machine whose data folder this process uses. */
  readonly machine: string;
  /** Monotonic time in milliseconds. */
  readonly elapsed: () => number;
  readonly eventRetentionMs: number;
  readonly noticeRetentionMs: number;
  readonly folderRetentionMs: number;
  readonly dataDir: string;
  readonly sandbox: Pick<Sandbox, 'keepAlive'>;
}

/** Under load a pass numbers what was written in this time, instead of one notice. */
const numberingPauseMs = 100;

/** Everything a server does without a request: it executes runs and drives the passes of the catalogue. */
export class Background {
  readonly #services: BackgroundServices;
  readonly #options: BackgroundOptions;
  readonly #leaseWatch: LeaseWatch;
  readonly #dispatcher: Dispatcher;
  readonly #deliverer: WebhookDeliverer;
  readonly #report: PassReport;
  readonly #drivers = new Map<PassName, Driver>();
  readonly #subscriptions: (() => void)[] = [];

  constructor(services: BackgroundServices, options: BackgroundOptions) {
    const { owner, machine, elapsed, dataDir, sandbox } = options;
    const { store, clock, settings, isSingleServer } = services;
    this.#services = services;
    this.#options = options;
    this.#report = new PassReport(dataDir, clock, () => this.#states());
    this.#leaseWatch = new LeaseWatch({
      owner,
      leaseMs: settings.leaseMs,
      store,
      clock,
      elapsed,
      // Programs of a server that stands still past its leases would work on beside those that take over.
      onHeld: (ms) => (isSingleServer ? undefined : sandbox.keepAlive(ms)),
    });
    this.#deliverer = new WebhookDeliverer(services, owner);
    this.#dispatcher = new Dispatcher(services, {
      owner,
      machine,
      holdsLeases: () => isSingleServer || this.#leaseWatch.holds,
      onFree: () => this.#wake('dispatch runs'),
    });
  }

  get slots(): RunSlots {
    return this.#dispatcher.slots;
  }

  /** The load that a drain waits for. */
  get load(): Load {
    return this.#dispatcher.slots.load;
  }

  /** Recovers the runs of an earlier process, then starts to execute runs and passes. */
  async start(): Promise<void> {
    const { store, fanout, clock, isSingleServer } = this.#services;
    const { owner } = this.#options;
    this.#leaseWatch.start();
    const leases: Leases = {
      owner,
      isExecuting: (runId) => this.#dispatcher.slots.isExecuting(runId),
      canTrustExpiry: () => isSingleServer || this.#leaseWatch.canTrustExpiry,
    };
    // Leases of an earlier process are void at once.
    if (isSingleServer) await store.transaction((tx) => tx.runs.voidLeasesExcept(owner));
    while (await reconcileRuns(this.#services, leases));
    this.#dispatcher.slots.accept();
    this.#startPasses(leases);
    const number = paced(clock, numberingPauseMs, () => this.#wake('number notices'));
    this.#subscriptions.push(
      fanout.subscribe('work', () => {
        this.#wake('dispatch runs');
        this.#wake('end parked cancellations');
        this.#wake('cancel called runs');
      }),
      fanout.subscribe('notices', number),
      fanout.subscribe('deliveries', () => this.#wake('deliver webhooks')),
      fanout.subscribe('connections', () => this.#wake('answer connected')),
    );
    // Several servers would all take the same steps at once: there, the first whose period is over takes them.
    if (isSingleServer) {
      const provision = () => this.#wake('provision tenants');
      this.#subscriptions.push(fanout.subscribe('tenants', provision));
    }
  }

  /** Stops claiming, gives legs `graceMs` to yield or end, cuts the rest, and waits for the passes under way. */
  async stop(graceMs: number): Promise<void> {
    const { log } = this.#services;
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    await this.#drivers.get('dispatch runs')?.stop();
    await this.#dispatcher.slots.drain(graceMs);
    await Promise.all(Array.from(this.#drivers.values(), (driver) => driver.stop()));
    await this.#deliverer.stop();
    if (this.#drivers.size === 0) return;
    await this.#report
      .write({ isStopped: true })
      .catch((error: unknown) => log.error('the last report of passes was not written', error));
  }

  #startPasses(leases: Leases): void {
    const { clock, log, metrics } = this.#services;
    const { eventRetentionMs, folderRetentionMs, noticeRetentionMs } = this.#options;
    const entries = catalogue({
      services: this.#services,
      dispatcher: this.#dispatcher,
      deliverer: this.#deliverer,
      leaseWatch: this.#leaseWatch,
      leases,
      report: this.#report,
      eventRetentionMs,
      folderRetentionMs,
      noticeRetentionMs,
    });
    for (const entry of entries) {
      this.#drivers.set(entry.name, drive({ ...entry, clock, log, metrics }));
    }
    showPasses(metrics, () => this.#states());
    for (const driver of this.#drivers.values()) driver.wake();
  }

  #wake(name: PassName): void {
    this.#drivers.get(name)?.wake();
  }

  #states(): readonly PassState[] {
    return Array.from(this.#drivers.values(), ({ state }) => state);
  }
}

function showPasses(metrics: Metrics, states: () => readonly PassState[]): void {
  const perPass = (value: (state: PassState) => number | null) =>
    Object.fromEntries(
      states().flatMap((state) => {
        const seen = value(state);
        return seen === null ? [] : [[state.name, seen / 1000]];
      }),
    );
  metrics.passLastSuccess.readFrom(() => perPass(({ lastSucceededAt }) => lastSucceededAt));
  metrics.passDuration.readFrom(() => perPass(({ lastDurationMs }) => lastDurationMs));
}
