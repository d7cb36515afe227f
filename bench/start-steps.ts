import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inTurn } from './checkouts.ts';
import { type Answer, Client } from './client.ts';
import { type Server, startServer } from './server.ts';
import { median, medianRatio } from './statistics.ts';
import { type StartedRun, endOf, openSessions, sideBySide, startRun, warmUp } from './workload.ts';

const connections = 32;
const sessionsPerConnection = 4;
const says = { deltas: 1 };
/** Keeps its session busy for as long as anything is measured. */
const sleeps = { deltas: 1, waitMs: 3_600_000 };
const settings = {
  CONVOKE_RUN_CONCURRENCY: '1024',
  CONVOKE_TENANT_RUN_CONCURRENCY: '1024',
  CONVOKE_SESSION_QUEUE_MAX: '10000',
};

export interface StartCostOptions {
  readonly folder: string;
  /** The root folders of what is measured, in turn. */
  readonly checkouts: readonly string[];
  /** Requests of a connection in a round. */
  readonly times: number;
  readonly rounds: number;
}

export interface StepCost {
  readonly checkout: string;
  readonly step: string;
  readonly leastUs: number;
  readonly medianUs: number;
  /** Of the rounds' ratios to the first checkout. */
  readonly ratio: number;
  readonly statements: number;
}

/** The processor time of each step, of every checkout. A first round warms up and is thrown away. */
export async function measureStartCost(options: StartCostOptions): Promise<StepCost[]> {
  const { folder, checkouts, rounds, times } = options;
  const measured = await Promise.all(
    checkouts.map((checkout, at) => MeasuredServer.open(checkout, join(folder, String(at)))),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const [step, request] of Object.entries(steps)) {
      for (const server of inTurn(measured, round)) await server.measure({ step, request, times });
    }
    if (round === 0) for (const server of measured) server.forget();
  }
  await Promise.all(measured.map((server) => server.close()));
  const [own] = measured;
  return measured.flatMap((server) => server.costs(own ?? server));
}

interface Place {
  /** A session that is free, unless the run of an earlier request is still under way. */
  readonly free: string;
  /** A session whose run goes on. */
  readonly busy: string;
  /** A start that was made before. */
  readonly known: { readonly session: string; readonly key: string };
}

/** Returns the run that has to end before the step is over. */
type Request = (client: Client, place: Place) => Promise<StartedRun | undefined>;

const steps: Readonly<Record<string, Request>> = {
  // HTTP, the gate and one row.
  'a read': async (client, { free }) => {
    requireStatus(200, await client.get(`/v1/sessions/${free}`));
    return undefined;
  },
  // The body, its key, and the run that has it.
  'a start again': async (client, { known }) => {
    requireStatus(200, await post(client, known.session, known.key));
    return undefined;
  },
  // The rows of a run, and its notice.
  'a start that waits': async (client, { busy }) => {
    requireStatus(201, await post(client, busy, randomUUID()));
    return undefined;
  },
  // The leg, its events, its end, and what passes do about it.
  'a run to its end': (client, { free }) => startRun(client, free),
};

function post(client: Client, session: string, key: string): Promise<Answer> {
  const body = { input: { prompt: 'go' }, idempotency_key: key };
  return client.post(`/v1/sessions/${session}/runs`, body);
}

function requireStatus(expected: number, answer: Answer): void {
  if (answer.status !== expected) throw new Error(`a step: ${JSON.stringify(answer)}`);
}

interface Work {
  readonly step: string;
  readonly request: Request;
  readonly times: number;
}

interface Slice {
  readonly step: string;
  readonly cpuUs: number;
  readonly statements: number;
}

/** The server of a checkout, with its sessions. */
class MeasuredServer {
  readonly #checkout: string;
  readonly #server: Server;
  readonly #places: readonly Place[];
  #slices: Slice[] = [];

  private constructor(checkout: string, server: Server, places: readonly Place[]) {
    this.#checkout = checkout;
    this.#server = server;
    this.#places = places;
  }

  static async open(checkout: string, folder: string): Promise<MeasuredServer> {
    const program = join(checkout, 'packages/cli/src/main.ts');
    const agents = [says, sleeps];
    const server = await startServer({ name: 'convoke', folder, agents, program, settings });
    const client = new Client(await server.address(), connections);
    const count = connections * sessionsPerConnection;
    const free = await openSessions(client, says, count);
    const busy = await openSessions(client, sleeps, count);
    await warmUp(client, free);
    const places = free.map((session, at) => ({
      free: session,
      busy: busy[at] ?? '',
      known: { session, key: randomUUID() },
    }));
    for (const { known, busy: session } of places) {
      requireStatus(201, await post(client, known.session, known.key));
      await startRun(client, session);
    }
    client.close();
    return new MeasuredServer(checkout, server, places);
  }

  /** Of the requests, and of what they cause: a run counts to its end. */
  async measure({ step, request, times }: Work): Promise<void> {
    const client = new Client(await this.#server.address(), connections);
    const last = new Map<string, StartedRun>();
    const before = await this.#server.usage('usage');
    const bounds = { clients: connections, ms: Number.POSITIVE_INFINITY, most: times };
    await sideBySide(bounds, async (connection, time) => {
      const at = connection * sessionsPerConnection + (time % sessionsPerConnection);
      const place = this.#places[at];
      const run = place && (await request(client, place));
      if (run !== undefined) last.set(run.sessionId, run);
    });
    // Runs of a session are executed in order.
    for (const run of last.values()) await endOf(client, run);
    const after = await this.#server.usage('usage');
    client.close();
    const count = connections * times;
    this.#slices.push({
      step,
      cpuUs: (after.cpuUs - before.cpuUs) / count,
      statements: (after.statements - before.statements) / count,
    });
  }

  forget(): void {
    this.#slices = [];
  }

  costs(beside: MeasuredServer): StepCost[] {
    return Object.keys(steps).map((step) => {
      const slices = this.#of(step);
      const cpuUs = slices.map((slice) => slice.cpuUs);
      const itsCpuUs = beside.#of(step).map((slice) => slice.cpuUs);
      return {
        checkout: this.#checkout,
        step,
        leastUs: Math.min(...cpuUs),
        medianUs: median(cpuUs),
        ratio: medianRatio(cpuUs, itsCpuUs),
        statements: median(slices.map(({ statements }) => statements)),
      };
    });
  }

  #of(step: string): Slice[] {
    return this.#slices.filter((slice) => slice.step === step);
  }

  close(): Promise<void> {
    return this.#server.stop();
  }
}
