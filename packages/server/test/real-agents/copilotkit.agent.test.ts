// The runtime of CopilotKit with its own version of HttpAgent, in front of a server: docs/guides/ag-ui.md.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { textOf } from '../../../../test/repository.ts';
import { installedPackages } from '../harness/installed-agent.ts';
import { startServer } from '../support/server.ts';

/** The versions that the guide names, with packages that npm would not choose on its own. */
const copilotKit = {
  name: 'copilotkit-1.75.0',
  dependencies: {
    '@ag-ui/client': '0.0.59',
    '@copilotkit/runtime': '1.75.0',
    '@langchain/core': '1.2.13',
  },
  overrides: {
    '@langchain/core': '1.2.13',
    '@langchain/langgraph': '1.4.18',
    '@langchain/langgraph-sdk': '1.12.3',
  },
};

interface Shown {
  readonly text: string;
  readonly calls: readonly { readonly name: string }[];
  readonly results: readonly string[];
  readonly asked: readonly string[];
}
type Conversation = Readonly<Record<'waiting' | 'ended' | 'reloaded', Shown>>;

let played: Readonly<Record<'allowed' | 'denied', Conversation>>;
let runs: number;
beforeAll(async () => {
  const folder = await installedPackages(copilotKit);
  const server = await startServer();
  const programs = join(import.meta.dirname, 'programs');
  const args = [
    '--import',
    join(programs, 'resolve-framework.mjs'),
    join(programs, 'copilotkit.mjs'),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: {
      PATH: process.env['PATH'],
      FRAMEWORK_FOLDER: folder,
      COPILOTKIT_TELEMETRY_DISABLED: 'true',
      CONVOKE_AG_UI: `${server.baseUrl}/v1/agents/writer/ag-ui`,
      CONVOKE_HEADERS: JSON.stringify(server.client),
    },
  });
  played = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  runs = (await server.send('list_tenant_runs', {})).body.runs.length;
}, 900_000);

test('a chat stops at the approval, and its answer continues the same run', () => {
  const { waiting, ended } = played.allowed;
  expect(waiting).toMatchObject({ text: 'May I? ', asked: ['tool_call'], results: [] });
  expect(ended).toMatchObject({ text: 'May I? Done.', asked: [] });
  expect(ended.calls.map(({ name }) => name)).toEqual(['write_file', 'read_file']);
  expect(ended.results).toHaveLength(2);
  expect(runs).toBe(2);
});

test('a denied call is shown as denied, and not carried out', () => {
  const { ended } = played.denied;
  expect(ended.calls.map(({ name }) => name)).toEqual(['write_file']);
  expect(ended.results).toEqual(['A person denied this call: not now']);
});

test('a page that is loaded again shows the same', () => {
  for (const { ended, reloaded } of Object.values(played)) expect(reloaded).toEqual(ended);
});

test('the guide names the versions', () => {
  const { dependencies } = copilotKit;
  const guide = textOf('docs/guides/ag-ui.md');
  for (const name of ['@copilotkit/runtime', '@ag-ui/client'] as const) {
    expect(guide).toContain(`\`${name}\` ${dependencies[name]}`);
  }
});
