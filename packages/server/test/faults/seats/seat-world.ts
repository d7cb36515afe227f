// Servers in this process, on one database, that a test kills at a seat and starts again.
import { hash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type RunEvent,
  type RunId,
  type SessionId,
  isTerminalRunStatus,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { RunText } from '@convoke/faces';
import { removeFolder } from '../../../../../test/remove-folder.ts';
import { answerInteraction, listInteractions } from '../../../src/app/interactions.ts';
import { startRun } from '../../../src/app/runs/start-run.ts';
import { createSession } from '../../../src/app/sessions.ts';
import { type Convoke, compose } from '../../../src/compose/compose.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { Interaction } from '../../../src/domain/interaction.ts';
import { canonicalJson } from '../../../src/domain/json.ts';
import { doubtOptions } from '../../../src/domain/run/call-in-doubt.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import type { TenantScope } from '../../../src/domain/scope.ts';
import type { ExecutionServices } from '../../../src/execution/services.ts';
import { MovingClock } from '../../support/clocks.ts';
import { type DatabaseKind, createLocation } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { allower, by } from '../../support/identity-fixture.ts';
import { allDeltas } from '../support/run-log.ts';
import { actorHarness } from './actor-harness.ts';
import { EffectLedger } from './effect-ledger.ts';
import { type Seating, ServerLife } from './seat-store.ts';
import { Dead, type SeatPlan, SeatPlans } from './seats.ts';

/** Kinds of calls: `pay` without and with an approval, and one that its agent declares repeatable. */
export const callKinds = ['plain', 'approved', 'repeatable'] as const;
export type CallKind = (typeof callKinds)[number];

export interface Case extends SeatPlan {
  readonly kind: CallKind;
  /** Answers a question about the call, if one is asked; undefined: not at all. */
  readonly person: (effects: number) => string | undefined;
  /** The session of an earlier run; undefined: a new one. */
  readonly sessionId?: SessionId;
}

export interface Started extends Case {
  readonly sessionId: SessionId;
  readonly prompt: string;
}

const patienceMs = 240_000;
export const answers = {
  done: doubtOptions.done.label,
  again: doubtOptions.again.label,
  unknown: doubtOptions.unknown.label,
} as const;

/** A person who knows what happened: with this answer every call is carried out exactly once. */
export const truthful = (effects: number): string => (effects > 0 ? answers.done : answers.again);

export interface Outcome {
  readonly run: Run;
  readonly log: readonly RunEvent[];
  /** As a reader joins it (D-87). */
  readonly text: string;
  /** As a reader that knows no interruption joins it. */
  readonly saidText: string;
  /** Number of questions about the call. */
  readonly asked: number;
  /** Answers in the audit log that had the call repeated. */
  readonly repeats: number;
  readonly calls: readonly string[];
  /** How often the call was carried out. */
  readonly effects: number;
}

const bounds = { limit: 10_000, maxBytes: 10_000_000 };

/** As the audit log has an answer to a question. */
function digestOf(answer: string): string {
  return hash('sha256', canonicalJson({ kind: 'question', answer }), 'base64url');
}

interface Alive {
  readonly convoke: Convoke;
  readonly life: ServerLife;
}

export class SeatWorld {
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #seating: Seating = { plans: new SeatPlans(), promptOf: new Map() };
  readonly effects = new EffectLedger();
  readonly clock = new MovingClock();
  readonly #alive = new Map<string, Alive>();
  readonly #kind: DatabaseKind;
  /** The server that requests go to. */
  #current = 'server-1';
  #servers = 1;
  #scope: TenantScope | undefined;
  readonly #cases: Started[] = [];

  private constructor(
    kind: DatabaseKind,
    folder: string,
    environment: Readonly<Record<string, string>>,
  ) {
    this.#kind = kind;
    this.#folder = folder;
    this.#environment = environment;
  }

  static async open(kind: DatabaseKind, { leaseSeconds = 3 } = {}): Promise<SeatWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-seats-'));
    // Servers on several machines share the archives of session folders.
    const CONVOKE_BLOBS = `file://${join(folder, 'blobs')}`;
    const database =
      kind === 'sqlite'
        ? {}
        : { CONVOKE_DATABASE_URL: await createLocation('postgres'), CONVOKE_BLOBS };
    await writeFile(join(folder, 'master.key'), randomBytes(32).toString('base64'), {
      mode: 0o600,
    });
    for (const name of callKinds) {
      await mkdir(join(folder, 'agents', name), { recursive: true });
      await writeFile(
        join(folder, 'agents', name, 'agent.yaml'),
        JSON.stringify({
          name,
          framework: 'actor',
          recovery: {
            on_loss: 'resume',
            repeatable_tools: ['get_*'],
            // The others continue the text that was cut.
            ...(name === 'repeatable' && { cut_message: 'again' }),
          },
        }),
      );
    }
    const lease = { CONVOKE_LEASE_SECONDS: String(leaseSeconds) };
    return new SeatWorld(kind, folder, { ...database, ...lease });
  }

  /** Starts a server; each name has a data folder of its own, and only PostgreSQL can serve several. */
  async start(name = this.#current): Promise<void> {
    const life = new ServerLife(this.#seating);
    const config = readConfig({
      CONVOKE_PORT: '1',
      CONVOKE_DATA_DIR: join(this.#folder, name),
      CONVOKE_AGENTS_DIR: join(this.#folder, 'agents'),
      CONVOKE_TENANT_RUN_CONCURRENCY: '256',
      CONVOKE_MASTER_KEY_FILE: join(this.#folder, 'master.key'),
      ...this.#environment,
    });
    const opened: { convoke?: Convoke } = {};
    const harness = actorHarness({
      life,
      effects: this.effects,
      durable: async ({ runId, sessionId }) => {
        const read = opened.convoke?.services.store.read;
        const [run] = (await read?.runs.lastSeqs([runId])) ?? [];
        const { point } = (await read?.sessions.state(sessionId)) ?? {};
        const pointSeq = point?.runId === runId ? point.seq : 0;
        return { lastSeq: run?.lastSeq ?? 0, pointSeq };
      },
    });
    const convoke = await compose(config, {
      clock: this.clock,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      harnesses: [harness],
      wrapStore: life.wrap,
    });
    opened.convoke = convoke;
    this.#alive.set(name, { convoke, life });
    if (this.#scope === undefined) {
      const quick = await convoke.quickstart();
      this.#scope = {
        organizationId: organizationId(quick.organization_id),
        tenantId: tenantId(quick.tenant_id),
      };
    }
    await convoke.start();
  }

  /** As `kill -9`: nothing more is read or written. Returns when its data folder is free again. */
  async kill(name = this.#current): Promise<void> {
    const { convoke, life } = this.#named(name);
    this.#alive.delete(name);
    life.kill();
    await convoke.stop(0);
  }

  /**
   * Kills the server and has another one take over: on SQLite the next one on the same data folder, on PostgreSQL one
   * that runs beside it, with a folder of its own.
   */
  async replace(): Promise<void> {
    const old = this.#current;
    if (this.#kind === 'sqlite') {
      await this.kill();
      this.#startLater(old);
      return;
    }
    const next = await this.addServer();
    await this.kill(old);
    this.#current = next;
    // The lease of the dead server is over; the other one waits a while before it trusts that.
    this.clock.advance(4_000);
  }

  /** A server beside the others, on PostgreSQL. */
  async addServer(): Promise<string> {
    const name = `server-${(this.#servers += 1)}`;
    await this.start(name);
    return name;
  }

  /** A start that a seat may hold: it recovers runs before it is done. */
  #startLater(name: string): void {
    this.start(name).catch((error: unknown) => {
      if (!(error instanceof Dead)) throw error;
    });
  }

  /** As SIGSTOP, while another server takes over. Returns the name of the one that stands still. */
  async freeze(): Promise<string> {
    const frozen = this.#current;
    this.#named(frozen).life.freeze();
    this.#current = await this.addServer();
    return frozen;
  }

  /** As SIGCONT. Returns when the server has done everything that it was about to do. */
  async thaw(name: string): Promise<void> {
    const { convoke, life } = this.#named(name);
    this.#alive.delete(name);
    life.thaw();
    await convoke.stop(60_000);
  }

  /** What the server that requests go to works with. */
  get services(): ExecutionServices {
    return this.#named(this.#current).convoke.services;
  }

  get scope(): TenantScope {
    if (this.#scope === undefined) throw new Error('no server was started');
    return this.#scope;
  }

  /** Data folder of the server that requests go to. */
  get dataDir(): string {
    return join(this.#folder, this.#current);
  }

  async close(): Promise<void> {
    for (const name of this.#alive.keys()) await this.kill(name);
    await removeFolder(this.#folder);
  }

  /** Starts a run for each case. */
  async begin(cases: readonly Case[], through = this.#current): Promise<Started[]> {
    const { services } = this.#named(through).convoke;
    const scope = this.scope;
    const begun: Started[] = [];
    for (const each of cases) {
      const prompt = `${this.#cases.length}: ${each.kind}, ${each.seats.join(', then ')}`;
      this.#seating.plans.add(prompt, each);
      const chargeRate = () => {};
      const create = { agentName: each.kind, idempotencyKey: undefined, chargeRate };
      const id = each.sessionId ?? (await createSession(services, scope, create)).resource.id;
      const request = { input: { prompt }, clientId: null, idempotencyKey: undefined, chargeRate };
      await startRun(services, scope, { ...request, sessionId: id });
      const started = { ...each, sessionId: id, prompt };
      begun.push(started);
      this.#cases.push(started);
    }
    return begun;
  }

  /** Waits until every run is held at a seat or has ended, answering what is asked before. */
  async seated(through = this.#current): Promise<void> {
    const { plans } = this.#seating;
    await eventually(async () => {
      await this.#answer(through);
      for (const each of this.#cases) {
        if (plans.isAtSeat(each.prompt)) continue;
        if (!isTerminalRunStatus((await this.runOf(each, through)).status)) return false;
      }
      return true;
    }, patienceMs);
  }

  /** Waits until every run has ended, answering what is asked. */
  async ended(through = this.#current): Promise<void> {
    await eventually(async () => {
      const open = await this.#answer(through);
      // Thrown, so that the failure of a test says which run has not ended, and where it is.
      if (open.length > 0) throw new Error(`not ended: ${open.join('; ')}`);
      return true;
    }, patienceMs);
  }

  /** Answers every pending interaction as the person of its case would. Returns the runs that have not ended. */
  async #answer(through: string): Promise<string[]> {
    const { services } = this.#named(through).convoke;
    const open: string[] = [];
    for (const each of this.#cases) {
      const run = await this.runOf(each, through);
      if (isTerminalRunStatus(run.status)) continue;
      open.push(`"${each.prompt}" is ${run.status} after event ${run.lastSeq}`);
      const pauseMs = (run.continueAt ?? 0) - this.clock.now();
      if (pauseMs > 0) this.clock.advance(pauseMs);
      if (run.status !== 'waiting') continue;
      for (const { key, kind } of await this.#pending(each, through)) {
        const effects = this.effects.count(keyOf(run.id));
        const answer = each.person(effects);
        if (kind === 'question' && answer === undefined) continue;
        const body = kind === 'permission' ? { decision: 'allow' } : { answer };
        const request = { sessionId: each.sessionId, key, body, by, allower };
        await answerInteraction(services, this.scope, request);
      }
    }
    return open;
  }

  async #pending({ sessionId }: Started, through: string): Promise<readonly Interaction[]> {
    const { services } = this.#named(through).convoke;
    const request = { sessionId, status: 'pending', page: { limit: 10, order: 'asc' } } as const;
    return (await listInteractions(services, this.scope, request)).items;
  }

  /** What the log, the ledger and the record of a run say. */
  async outcomeOf(each: Started, through = this.#current): Promise<Outcome> {
    const { store } = this.#named(through).convoke.services;
    const run = await this.runOf(each, through);
    const { events } = await store.read.runEvents.after(run.id, 0, bounds);
    const log = events.map(({ body }) => JSON.parse(body) as RunEvent);
    const joined = new RunText();
    for (const event of log) joined.take(event);
    const calls = await store.read.toolCalls.ofRun(run.id);
    const asked = log.filter(({ type }) => type === 'user_question').length;
    const rows = await store.read.audit.newest(this.scope.organizationId, 10_000);
    const repeats = rows.filter(
      ({ action, details }) =>
        action === 'interaction.answer' &&
        details['run_id'] === run.id &&
        details['answer_sha256'] === digestOf(answers.again),
    ).length;
    return {
      run,
      log,
      text: joined.text,
      saidText: allDeltas(log),
      asked,
      repeats,
      calls: calls.map(({ status }) => status),
      effects: this.effects.count(keyOf(run.id)),
    };
  }

  async runOf({ sessionId, prompt }: Started, through = this.#current): Promise<Run> {
    const { store } = this.#named(through).convoke.services;
    const page = { limit: 10, order: 'desc' } as const;
    const listed = await store.read.runs.list(this.scope, { sessionId, filter: {}, page });
    const run = listed.items.find(({ input }) => JSON.parse(input).prompt === prompt);
    if (run === undefined) throw new Error('the run is gone');
    return run;
  }

  #named(name: string): Alive {
    const found = this.#alive.get(name);
    if (found === undefined) throw new Error(`the server ${name} does not run`);
    return found;
  }
}

function keyOf(runId: RunId): string {
  return `${runId}.call-1`;
}
