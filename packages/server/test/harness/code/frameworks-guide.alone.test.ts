// The agent of docs/guides/agent-frameworks.md, as a reader writes it, with a model that is asked over HTTP.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openProgramFolder } from '../../../../../test/program-folder.ts';
import { root } from '../../../../../test/repository.ts';
import { agentTemplates } from '../../../../cli/src/commands/application/agents/templates.ts';
import { startModelServer } from '../../support/model-server/server.ts';

const rehearsal = `
import { rehearse } from '@convoke/agent/test';
import clerk from './agent.ts';

const prompt = '@@ say Refunding. && call refund {"order":7} ;; call ask_user {"question":"Why?"} ;; last';
const { text, asked } = await rehearse(clerk, { prompt });
console.log(JSON.stringify({ text, asked: asked.map(({ kind }) => kind) }));
`;

test('the agent of the AI SDK in the guide asks for approval and has a question', async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  await using folder = await openProgramFolder(root);
  const guide = await readFile(join(root, 'docs/guides/agent-frameworks.md'), 'utf8');
  const files = guide.matchAll(/^```\w+ (agents\/clerk\/\S+)\n([\s\S]*?)^```/gm);
  for (const [, path = '', text = ''] of files) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  }
  const cwd = join(folder.path, 'agents/clerk');
  await writeFile(join(cwd, 'rehearsal.ts'), rehearsal);
  const { stdout } = await promisify(execFile)(process.execPath, ['rehearsal.ts'], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: `${server.url}/v1`,
    },
  });
  expect(JSON.parse(stdout)).toEqual({
    text: 'Refunding.tool said: yes',
    asked: ['permission', 'question'],
  });
});

const { ts: _ts, python: _python, stdio: _stdio, ...frameworks } = agentTemplates;

test.each(Object.entries(frameworks))(
  'the template %s has the agent of the guide, in five files',
  async (_name, { files }) => {
    const guide = await readFile(join(root, 'docs/guides/agent-frameworks.md'), 'utf8');
    const { 'agent.ts': agent = '', ...others } = files('clerk');
    expect(guide).toContain(`/agent.ts\n${agent}\`\`\``);
    expect(Object.keys(others)).toHaveLength(4);
  },
);
