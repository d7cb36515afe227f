// A run asks for an account, its end user connects it by a link, and the run continues (D-605 to D-608): the servers,
// the workers and the pass on the way die at any commit.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerConnected } from '../../src/app/connections/answer-connected.ts';
import {
  beginConnection,
  finishConnection,
  returnFromService,
} from '../../src/app/connections/connecting.ts';
import { TokenRequests } from '../../src/app/connections/token-requests.ts';
import { Refusal } from '../../src/app/refusal.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { createSession } from '../../src/app/sessions.ts';
import type { RefreshAnswer } from '../../src/domain/connections/refresh.ts';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import type { Session } from '../../src/domain/session.ts';
import { scriptedHarness } from '../../src/harness/scripted/harness.ts';
import type { TokenEndpoints } from '../../src/ports/connections/token-endpoints.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { sql } from '../../src/store/sql.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { Death, MortalLegs } from '../support/mortal-legs.ts';
import type { RunFixture } from '../support/run-fixture.ts';

const link = {
  authorizationEndpoint: 'https://service.test/authorize',
  tokenEndpoint: 'https://service.test/token',
  clientId: 'client',
};
const returnUrl = 'http://convoke.test/console/connected';
/** More than the way below has, with what is done again. */
const [commitsMax, turnsMax] = [60, 40];

/**
 * Issues tokens that last for a minute, so that every leg refreshes, for codes and refresh tokens that are used once.
 */
class Service implements TokenEndpoints {
  readonly taken: string[] = [];
  #codes = 0;

  newCode(): string {
    this.#codes += 1;
    return `code-${this.#codes}`;
  }

  async problemOf() {
    return undefined;
  }

  async redeem({ code }: { readonly code: string }) {
    return this.#issue(code);
  }

  async refresh({ refreshToken }: { readonly refreshToken: string }) {
    return this.#issue(refreshToken);
  }

  #issue(used: string): RefreshAnswer {
    if (this.taken.includes(used)) throw new Error(`${used} was sent twice`);
    this.taken.push(used);
    const number = this.taken.length;
    const [accessToken, refreshToken] = [`access-token-${number}`, `refresh-token-${number}`];
    return { kind: 'refreshed', token: { accessToken, refreshToken, expiresInSeconds: 60 } };
  }
}

describe.each(databaseKinds)('on %s, a run that asks for an account', (kind) => {
  const service = new Service();
  let legs: MortalLegs;
  let world: RunFixture;
  beforeAll(async () => {
    const agent = agentOf({
      framework: 'scripted',
      settings: { script: [{ say: 'You said {{prompt}}.' }] },
      connections: [
        { service: 'github', owner: 'end_user', hasFallback: false, isRequired: true, link },
      ],
      recovery: { ...agentOf({}).recovery, attempts: 20 },
    });
    const connectUrl = 'https://product.test/connect?session={session_id}';
    const fixture = { tokenEndpoints: service, settings: { connectUrl } };
    const harness = scriptedHarness({ clock: systemClock });
    legs = await MortalLegs.open({ kind, agent, harness, fixture });
    world = legs.world;
  });
  afterAll(() => legs.close());

  let sessions = 0;
  async function newSession(): Promise<Session & { readonly endUser: string }> {
    sessions += 1;
    const endUser = `u-${sessions}`;
    const request = { agentName: 'agent', endUser, idempotencyKey: undefined, chargeRate };
    return { ...(await createSession(world, world.scope, request)).resource, endUser };
  }

  const alive = (death: Death) => (death.isDead ? new Death() : death);

  /** A request to a server of its own; undefined when the server died. */
  async function ask<Result>(
    death: Death,
    handle: (services: RunFixture) => Promise<Result>,
  ): Promise<Result | undefined> {
    const fate = alive(death);
    const tokenRequests = new TokenRequests(world.clock);
    const answered = handle({ ...world, store: fate.wrap(world.store), tokenRequests });
    return Promise.race([answered, fate.reached.then(() => undefined)]);
  }

  /** As a client does: with its key, again where the server died. */
  async function post({ id: sessionId }: Session, death: Death): Promise<Run> {
    const input = { prompt: 'hello' };
    const idempotencyKey = `start of ${sessionId}`;
    const request = { sessionId, input, clientId: world.clientId, idempotencyKey, chargeRate };
    const send = () => ask(death, (services) => startRun(services, world.scope, request));
    const started = (await send()) ?? (await send());
    if (started === undefined) throw new Error('two servers died');
    return started.resource;
  }

  /**
   * As a browser and a page of the product do: each step again where the server died, and all of them in the next turn.
   */
  async function connect(
    { id: sessionId, endUser }: Awaited<ReturnType<typeof newSession>>,
    death: Death,
  ) {
    const { scope } = world;
    const at = { service: 'github', endUser };
    const begun = await ask(death, (services) =>
      beginConnection(services, scope, { at, sessionId, link, returnUrl }),
    );
    if (begun === undefined) return;
    const state = new URL(begun.connectUrl).searchParams.get('state') ?? '';
    const back = { state, code: service.newCode(), iss: undefined, error: undefined };
    const comeBack = () => ask(death, (services) => returnFromService(services, back));
    const page = (await comeBack()) ?? (await comeBack());
    if (page === undefined) return;
    const ticket = new URL(page).searchParams.get('ticket');
    if (ticket === null) throw new Error(`no ticket: ${page}`);
    const put = { at, sessionId, ticket, createdBy: { kind: 'client', id: 'cli_1' }, by } as const;
    const finish = () => ask(death, (services) => finishConnection(services, scope, put));
    if ((await finish()) !== undefined) return;
    await finish().catch((error: unknown) => {
      // The server that died had connected it.
      if (!(error instanceof Refusal) || error.code !== 'invalid_ticket') throw error;
    });
  }

  async function play(death: Death) {
    const session = await newSession();
    const { endUser } = session;
    const run = await post(session, death);
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const now = await world.read(run);
      if (isEnded(now)) return { session, run: now };
      const at = { service: 'github', endUser };
      if (now.lease !== null) await legs.recover();
      else if (now.pendingInteractions === 0) await legs.execute(now, alive(death));
      else if ((await world.store.read.connections.find(world.scope, at))?.status === 'connected') {
        await ask(death, answerConnected);
      } else await connect(session, death);
    }
    throw new Error('the run does not end');
  }

  test.each([false, true])(
    'ends once with its prompt, and its end user connects once for each question (committed: %s)',
    { timeout: 600_000 },
    async (hasCommitted) => {
      const asked: number[] = [];
      for (let commit = 0; commit < commitsMax; commit += 1) {
        const seat = `commit ${commit}`;
        const death = new Death(commit, hasCommitted);
        const { session, run } = await play(death);
        expect([seat, run.status, run.outputText]).toEqual([seat, 'completed', 'You said hello.']);
        const runs = await world.database.all<{ id: string }>(
          sql`select id from runs where session_id = ${session.id}`,
        );
        expect([seat, runs]).toEqual([seat, [{ id: run.id }]]);
        const types = (await world.logOf(run.id)).map(({ type }) => type);
        expect([seat, types.indexOf('run_completed')]).toEqual([seat, types.length - 1]);
        asked.push(types.filter((type) => type === 'user_question').length);
        const at = { service: 'github', endUser: session.endUser };
        const account = await world.store.read.connections.find(world.scope, at);
        const connects = await world.database.all<{ object: string }>(sql`
          select object from audit_rows
          where action = 'connection.connect' and object = ${account?.id ?? ''}`);
        expect([seat, connects.length]).toEqual([seat, asked.at(-1)]);
        // Clients of every kind see it whole.
        await legs.finish(run, { answer: () => undefined });
        if (!death.hasCome) break;
      }
      expect(asked.length).toBeGreaterThan(9);
      // A worker that dies with a refresh costs another question, and nothing else does.
      expect(new Set(asked)).toEqual(new Set([1, 2]));
      expect(asked.at(-1)).toBe(1);
    },
  );
});

function chargeRate(): void {}
