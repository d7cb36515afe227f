// The agent of docs/guides/agents-as-code.md, as a reader writes it, and the test that the guide has for it.
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { downloadMs, oldestNode, prepareCheckout } from '../../../../../test/oldest-node.ts';
import { openProgramFolder } from '../../../../../test/program-folder.ts';
import { root } from '../../../../../test/repository.ts';
import { requireSandbox } from '../../../../../test/services.ts';
import { answer, begin, ended, pendingIn } from '../../support/api-steps.ts';
import { startServer } from '../../support/server.ts';

beforeAll(() => requireSandbox());

const agents = [
  { name: 'refunds', said: 'Refunded (R-7), number 1 of this session.' },
  { name: 'returns', said: 'Refunded (R-7), since it was late.' },
];

test.each(agents)(
  'the agent $name of the guide continues after a restart, and refunds once with what was approved',
  async ({ name, said }) => {
    const files = [...(await filesOfGuide())].filter(([path]) => !path.includes('test'));
    const agentFiles = Object.fromEntries(
      files.map(([path, text]) => [path.replace('agents/', ''), text]),
    );
    let server = await startServer({ agents: {}, agentFiles });
    const { session, run } = await begin(server, name, 'order 7');
    await answer(server, await pendingIn(server, session.id), { answer: 'late' });
    const asked = await pendingIn(server, session.id);
    await server.stop(60_000);
    server = await server.restart();
    await answer(server, asked, { decision: 'allow', updated_input: { order: 7, amount: 15 } });
    const { status, output_text } = await ended(server, run);
    expect([status, output_text]).toEqual(['completed', `Looking for order 7.\n${said}\n`]);
    const folder = join(server.config.dataDir, 'workspaces');
    const paths = await readdir(folder, { recursive: true });
    const ledger = paths.find((path) => path.endsWith('ledger.txt')) ?? '';
    expect(await readFile(join(folder, ledger), 'utf8')).toMatch(
      /^15 for order 7 \(run_\S+ \S+\)\n$/,
    );
  },
);

test('the rules of the guide decide about payouts by their amount, and a denial is said with its reason', async () => {
  const agentFiles = Object.fromEntries(
    [...(await filesOfGuide())]
      .filter(([path]) => path.includes('payouts') && !path.includes('test'))
      .map(([path, text]) => [path.replace('agents/', ''), text]),
  );
  const server = await startServer({ agents: {}, agentFiles });
  const said = async (prompt: string, decision?: 'allow' | 'deny') => {
    const { session, run } = await begin(server, 'payouts', prompt);
    if (decision !== undefined)
      await answer(server, await pendingIn(server, session.id), { decision });
    return (await ended(server, run)).output_text;
  };
  expect(await said('50')).toBe('Paid: {"amount":50}.\n');
  expect(await said('51', 'allow')).toBe('Paid: {"amount":51}.\n');
  expect(await said('51', 'deny')).toBe('Not paid: not allowed\n');
  expect(await said('1001')).toBe(
    'Not paid: Not allowed by the rule huge of the agent: No more than 1000.\n',
  );
});

test.each([
  { name: 'payouts', files: ['agent.test.ts', 'agent.ts', 'agent.yaml'] },
  { name: 'refunds', files: ['agent.test.ts', 'agent.ts', 'agent.yaml'] },
  { name: 'returns', files: ['agent.py', 'agent.yaml', 'test_agent.py'] },
])(
  'the test that the guide has for $name passes with the command of the guide, on the oldest Node',
  async ({ name, files }) => {
    const node = await oldestNode();
    prepareCheckout(node);
    await using folder = await openProgramFolder(root);
    await writeGuide(folder.path);
    const command = join(root, 'packages/cli/bin/convoke.mjs');
    const { status, stdout, stderr } = spawnSync(node, [command, 'agents', 'test', name], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: `${dirname(node)}:/usr/bin:/bin` },
    });
    expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(/pass 2$|^Ran 2 tests/m)]);
    // What its steps write is not left beside the agent.
    expect((await readdir(join(folder.path, 'agents', name))).sort()).toEqual(files);
  },
  120_000 + downloadMs,
);

async function writeGuide(folder: string): Promise<void> {
  for (const [path, text] of await filesOfGuide()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

async function filesOfGuide(): Promise<Map<string, string>> {
  const guide = await readFile(join(root, 'docs/guides/agents-as-code.md'), 'utf8');
  const fence = /^```\w+ (agents\/\S+)\n([\s\S]*?)^```/gm;
  return new Map([...guide.matchAll(fence)].map(([, path = '', text = '']) => [path, text]));
}
