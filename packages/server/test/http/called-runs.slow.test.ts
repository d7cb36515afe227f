import { beforeAll, describe, expect, test } from 'vitest';
import { begin, cancel, ended, logSoFar, readRun } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { type PuppetLeg, Puppet } from '../support/puppet-harness.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const names = ['planner', 'researcher', 'critic', 'editor', 'clerk', 'porter', 'guard'];

describe.each(deployments)('the bounds of called runs on %s (D-921)', (database) => {
  const traits = { replays: true, callsAgents: true };
  const puppet = Object.assign(new Puppet({ afterLoss: 'repeat' }), traits);
  let server: TestServer;
  beforeAll(async () => {
    const agents = names.map((name) => {
      const others = names.filter((each) => each !== name);
      return [name, puppet.agent({ agents: others })] as const;
    });
    const harnesses = [puppet];
    server = await startServer({ database, agents: Object.fromEntries(agents), harnesses });
  });

  /** The first leg of the agent; others have heard what their calls brought, and wait again. */
  async function firstLegOf(name: string): Promise<PuppetLeg> {
    for (;;) {
      const leg = await puppet.leg();
      if (leg.input.kind === 'prompt' && leg.context.agent.name === name) return leg;
      leg.end('waiting');
    }
  }

  function call(leg: PuppetLeg, ...calls: readonly string[]): void {
    for (const [at, name] of calls.entries()) {
      leg.emit({ type: 'wait', ref: `call ${at}`, kind: 'run', name, input: { prompt: 'x' } });
    }
    leg.end('waiting');
  }

  async function refusalsIn(run: { id: string; session_id: string }): Promise<unknown[]> {
    return (await logSoFar(server, run)).flatMap(({ type, data }) =>
      type === 'wait_ended' && data.outcome === 'refused' ? [data.message] : [],
    );
  }

  const below = async (id: string) => {
    const query = { ancestor_run_id: id, order: 'asc', limit: '100' } as const;
    return (await server.send('list_tenant_runs', { query })).body.runs;
  };

  test('no agent calls one of its callers, and the sixth below another is refused', async () => {
    const { run: root } = await begin(server, 'planner');
    const [, ...others] = names;
    let caller = { ...root };
    for (const [at, name] of names.entries()) {
      const leg = await firstLegOf(name);
      const next = names[at + 1];
      // Every one of its callers, and the next agent.
      const ring = names.slice(0, at);
      call(leg, ...ring, ...(next === undefined ? [] : [next]));
      const isDeepest = at === 5;
      const refused = [
        ...ring.map((each) =>
          isDeepest
            ? 'Calls go 5 deep at most.'
            : `${each} is one of the callers, and would call itself.`,
        ),
        ...(isDeepest ? ['Calls go 5 deep at most.'] : []),
      ];
      await expect.poll(() => refusalsIn(caller), { timeout: 30_000 }).toEqual(refused);
      if (isDeepest) break;
      const runs = await eventually(async () => {
        const found = await below(root.id);
        return found.length > at && found;
      });
      expect(runs.map(({ agent_name }) => agent_name)).toEqual(others.slice(0, at + 1));
      const [child] = runs.slice(-1);
      if (child === undefined) throw new Error('nothing was called');
      const read = await readRun(server, child);
      expect(read).toMatchObject({ parent_run_id: caller.id, root_run_id: root.id });
      caller = read;
    }
    await cancel(server, root);
    await ended(server, root);
  });

  test('a request of a called run names its caller, in the list and alone; others name none', async () => {
    const { run } = await begin(server, 'planner');
    call(await firstLegOf('planner'), 'researcher');
    const ask = async (name: string) => {
      const leg = await firstLegOf(name);
      leg.emit({ type: 'user_question', ref: 'q', question: `What does ${name} need?` });
      leg.end('waiting');
    };
    await ask('researcher');
    const { run: own } = await begin(server, 'critic');
    await ask('critic');
    const asked = await eventually(async () => {
      const { interactions } = (await server.send('list_tenant_interactions', {})).body;
      return interactions.length === 2 && interactions;
    });
    const of = (agent: string) => asked.find(({ agent_name: name }) => name === agent);
    const caller = { parent_run_id: run.id, parent_agent_name: 'planner' };
    expect(of('researcher')).toMatchObject(caller);
    for (const [agent, shown] of [
      ['researcher', caller],
      ['critic', {}],
    ] as const) {
      const params = { interaction_key: of(agent)?.interaction_key ?? '' };
      const { body } = await server.send('find_interaction', { params });
      for (const each of [of(agent), body]) {
        const { parent_run_id, parent_agent_name } = each ?? {};
        expect(JSON.parse(JSON.stringify({ parent_run_id, parent_agent_name }))).toEqual(shown);
      }
    }
    for (const each of [run, own]) {
      await cancel(server, each);
      await ended(server, each);
    }
  });

  test('a run calls a hundred others at most, and a cancel reaches all of them', async () => {
    const { run } = await begin(server, 'planner');
    const leg = await firstLegOf('planner');
    call(leg, ...Array.from({ length: 102 }, () => 'researcher'));
    const refusal = 'A run calls at most 100 others.';
    await expect.poll(() => refusalsIn(run), { timeout: 30_000 }).toEqual([refusal, refusal]);
    expect(await below(run.id)).toHaveLength(100);
    await cancel(server, run);
    await ended(server, run);
    await eventually(async () => {
      const runs = await below(run.id);
      return runs.every(({ status }) => status === 'cancelled');
    });
  });
});
