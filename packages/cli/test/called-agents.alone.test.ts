// An agent as code calls another agent, through a real server, its sandbox and the client (D-920).
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Convoke, type InteractionSummary, type RunRecord, type RunSummary } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { requireSandbox } from '../../../test/services.ts';
import { type ConvokeServer, clientOf, startConvoke } from '../../sdk/test/convoke-server.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { collect } from '../src/collect.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const files = {
  'planner/agent.yaml':
    'schema: 1\nname: planner\nframework: code\nentry: agent.ts\nagents: [researcher, critic]\n',
  'planner/agent.ts': `import { agent } from '@convoke/agent';

export default agent(async (ctx) => {
  const [found, judged] = await Promise.all([
    ctx.call('researcher', { prompt: ctx.prompt }),
    ctx.call('critic', { prompt: ctx.prompt }),
  ]);
  return JSON.stringify([found.ok && found.text, judged.ok ? judged.text : judged.code]);
});
`,
  'planner-py/agent.yaml':
    'schema: 1\nname: planner-py\nframework: code\nentry: agent.py\nagents: [researcher, critic]\n',
  'planner-py/agent.py': `import json

from convoke_agent import agent


@agent
def main(ctx):
    found, judged = ctx.parallel(
        lambda: ctx.call("researcher", {"prompt": ctx.prompt}),
        lambda: ctx.call("critic", {"prompt": ctx.prompt}),
    )
    return json.dumps([found.ok and found.text, judged.text if judged.ok else judged.code])
`,
  'researcher/agent.yaml': 'schema: 1\nname: researcher\nframework: code\nentry: agent.ts\n',
  'researcher/agent.ts': `import { agent } from '@convoke/agent';

export default agent((ctx) => \`found \${ctx.prompt}\`);
`,
  'lead/agent.yaml':
    'schema: 1\nname: lead\nframework: scripted\nagents: [carpenter]\nscript:\n  - call: { agent: carpenter, prompt: "{{prompt}}" }\n  - say: "{{answer}}"\n',
  'carpenter/agent.yaml':
    'schema: 1\nname: carpenter\nframework: scripted\nscript:\n  - ask: { question: Which wood? }\n  - say: "{{answer}}"\n',
};

let server: ConvokeServer;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
let commandLine: CommandLine;
beforeAll(async () => {
  requireSandbox();
  folder = await openProgramFolder(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder.path, 'agents', path, '..'), { recursive: true });
    await writeFile(join(folder.path, 'agents', path), text);
  }
  server = await startConvoke({ CONVOKE_AGENTS_DIR: join(folder.path, 'agents') });
  await mkdir(join(folder.path, '.convoke'));
  await writeFile(join(folder.path, '.convoke/quickstart.json'), JSON.stringify(server.quickstart));
  commandLine = await createCommandLine(folder.path);
}, manyProcessesMs);
afterAll(async () => {
  await commandLine.remove();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test.each(['planner', 'planner-py'])(
  'a call of %s brings the answer of the called agent; one of an agent that does not exist is a value',
  async (planner) => {
    const convoke = new Convoke(clientOf(server));
    const run = await (await convoke.sessions.create(planner)).run('chairs');
    const { output_text = '' } = await run.wait();
    expect(JSON.parse(output_text)).toEqual(['found chairs', 'refused']);
    const [called, ...others] = await collect(convoke.runs.list({ ancestor_run_id: run.id }), 10);
    expect(others).toEqual([]);
    expect(called).toMatchObject({
      agent_name: 'researcher',
      status: 'completed',
      parent_run_id: run.id,
    });
  },
);

test('a request of a called run names its caller, and a script gets the runs below a run', async () => {
  const convoke = new Convoke(clientOf(server));
  const run = await (await convoke.sessions.create('lead')).run('a chair');
  const asked = await eventually(async () => {
    const { interactions } = await commandLine.json<Asked>('inbox');
    return interactions[0];
  }, manyProcessesMs);
  const caller = { parent_run_id: run.id, parent_agent_name: 'lead' };
  expect(asked).toMatchObject({ agent_name: 'carpenter', question: 'Which wood?', ...caller });
  expect(await convoke.interactions.get(asked.interaction_key)).toMatchObject(caller);
  const { stdout } = await commandLine.run(['inbox', '--list']);
  expect(stdout).toMatch(/ carpenter, called by lead {2}/);
  const shown = await commandLine.json<Shown>('runs', 'show', run.id);
  expect(shown).toMatchObject({ id: run.id, waiting_on: [{ kind: 'run', name: 'carpenter' }] });
  const waiting_on = [{ kind: 'interaction', name: 'question' }];
  expect(shown.called_runs).toMatchObject([{ agent_name: 'carpenter', waiting_on }]);
  await convoke.interactions.answer(asked, { answer: 'oak' });
  expect(await run.text()).toBe('oak');
  const called = await commandLine.json<Shown>('runs', 'show', shown.called_runs?.[0]?.id ?? '');
  expect(called).not.toHaveProperty('called_runs');
});

interface Asked {
  readonly interactions: readonly InteractionSummary[];
}

type Shown = RunRecord & { readonly called_runs?: readonly RunSummary[] };
