// The agent, the answers and the refusal of docs/guides/typed-runs.md, as they are written there.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../../../../test/repository.ts';
import { requireSandbox } from '../../../../../test/services.ts';
import { withRehearsal } from '../../../src/operate/rehearse/rehearsal.ts';
import { ended, logOf, openSession } from '../../support/api-steps.ts';
import { type TestServer, startServer } from '../../support/server.ts';

let guide: string;
let server: TestServer;
beforeAll(async () => {
  requireSandbox();
  guide = await readFile(join(root, 'docs/guides/typed-runs.md'), 'utf8');
  const fence = /^```\w+ agents\/(\S+)\n([\s\S]*?)^```/gm;
  const files = [...guide.matchAll(fence)].map(([, path = '', text = '']) => [path, text]);
  server = await startServer({ agents: {}, agentFiles: Object.fromEntries(files) });
});

/** The blocks of JSON that are no files. */
function answers(): readonly JsonObject[] {
  const fence = /^```json\n([\s\S]*?)^```/gm;
  return [...guide.matchAll(fence)].map(([, text = '']) => JSON.parse(text) as JsonObject);
}

async function start(input: JsonObject) {
  const { id } = await openSession(server, 'triage');
  return { params: { session_id: id }, body: { input } };
}

test('the run of the guide has the output of the guide', async () => {
  const [run, refusal] = answers();
  const { body } = await server.send('start_run', await start({ ticket: 7 }));
  const read = await ended(server, body);
  expect(read).toMatchObject({ ...run });
  const [output] = (await logOf(server, read)).filter(({ type }) => type === 'run_output');
  expect(output?.data).toMatchObject({ output: run?.['output'] });
  const shown = /```text\n(Read ticket 7\.)\n(\{[\s\S]*?\n\})\n```/.exec(guide);
  expect([shown?.[1], JSON.parse(shown?.[2] ?? '')]).toEqual([
    run?.['output_text'],
    run?.['output'],
  ]);

  const refused = await server.refused('start_run', await start({ ticket: '7', colour: 'red' }));
  expect(refused.body).toMatchObject({ error: refusal?.['error'] });
  expect(sorted(refused.body)).toEqual(sorted(refusal));
});

/** The order of the issues is that of the validator. */
function sorted(body: unknown): readonly string[] {
  const { issues } = body as { readonly issues: readonly object[] };
  return issues.map((issue) => JSON.stringify(issue)).sort();
}

test('the agent of the guide can be rehearsed, killed everywhere, and is refused what a server refuses', async () => {
  const { agentsDir } = server.config;
  const config = { agentsDir, pricesFile: undefined, a2aAllow: [], sandbox: 'auto' } as const;
  const options = (input: JsonObject) => ({
    input,
    signal: new AbortController().signal,
    answer: () => Promise.reject(new Error('it asks nothing')),
  });
  await withRehearsal(config, 'triage', async (rehearsal) => {
    const { undisturbed, report } = await rehearsal.everyKill(options({ ticket: 7 }), () => {});
    expect(undisturbed.run.end).toEqual({
      outcome: 'completed',
      output: { team: 'billing', urgent: false },
    });
    expect(report.problems).toEqual([]);
    await expect(rehearsal.play(options({}))).rejects.toThrow('/input/ticket is missing');
  });
});
