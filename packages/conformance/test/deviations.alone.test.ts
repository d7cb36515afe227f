// D-488: the kit sees each of these deviations. They are made by a proxy in front of our server.
import { expect, onTestFinished, test } from 'vitest';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import {
  createServerFolder,
  readQuickstart,
} from '../../server/test/faults/support/server-folder.ts';
import { ServerProcess } from '../../server/test/faults/support/server-process.ts';
import { writeAgents } from '../src/agents.ts';
import { runConformance } from '../src/conformance.ts';
import { readTask } from '../src/options.ts';
import type { RequirementResult } from '../src/results.ts';
import { Secrets } from '../src/secrets.ts';
import { type Deviation, type Returned, startProxy } from './deviating-proxy.ts';

const folder = await createServerFolder({
  agents: {},
  settings: { CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '0' },
});
atFileEnd(() => folder.remove());
await writeAgents(folder.agentsDir);
const server = await ServerProcess.start(folder);
atFileEnd(async () => void (await server.kill()));
const quickstart = readQuickstart(folder);

/** Runs the checks of some requirements against our server behind the proxy. */
async function resultsBehind(
  deviation: Deviation,
  ids: readonly string[],
): Promise<Map<string, RequirementResult>> {
  const proxy = await startProxy(server.baseUrl, deviation);
  onTestFinished(() => proxy.close());
  const task = readTask(
    ['--base-url', proxy.baseUrl, '--level', 'convoke', '--only', ids.join(',')],
    {
      CONVOKE_CLIENT_ID: quickstart.client_id,
      CONVOKE_CLIENT_SECRET: quickstart.client_secret,
      CONVOKE_OWNER_TOKEN: quickstart.owner_token,
    },
  );
  if (task.kind !== 'run') throw new Error('expected options');
  const { requirements } = await runConformance(task.options, new Secrets());
  return new Map(requirements.map((each) => [each.requirement.id, each]));
}

const refusal: Returned = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '0' },
  text: '{"error":"rate_limited"}',
};

test('spec §7: a request that is refused with 429 is repeated when the service says', async () => {
  const refused = new Set<string>();
  const refuseOnce: Deviation = {
    request({ method, path }) {
      const isFirst = !refused.has(`${method} ${path}`);
      refused.add(`${method} ${path}`);
      return isFirst ? refusal : undefined;
    },
  };
  const ids = ['4.2-events', '4.2-invoke', '4.3-rename', '5-exchange'];
  const results = await resultsBehind(refuseOnce, ids);
  expect([...results.values()].map(({ outcome }) => outcome)).toEqual(ids.map(() => 'pass'));
  // Streams, the token endpoint and the management API are waited for alike.
  const asked = [...refused].join('\n');
  for (const part of ['/events', '/runs', 'PATCH', '/oauth/token']) expect(asked).toContain(part);
});

test('a service that asks for a longer wait than the kit has is reported as it answers', async () => {
  const later = { ...refusal, headers: { ...refusal.headers, 'retry-after': '3600' } };
  const away: Deviation = { request: ({ path }) => (path === '/v1/whoami' ? later : undefined) };
  const result = (await resultsBehind(away, ['4.2-whoami'])).get('4.2-whoami');
  expect(result?.outcome).toBe('fail');
  expect(result?.checks[0]?.message).toContain('expected 200, got 429');
});
