// What a collector adds up over servers that are killed, and over programs that run again from their first line
// (D-588).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, isTerminalRunStatus } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { Caller, runPath } from '../faults/support/caller.ts';
import { createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { SpanReceiver, pushingTo } from './span-receiver.ts';

const clerk = `
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  ctx.usage({ model: 'acme/small', inputTokens: 7, outputTokens: 2 });
  await ctx.step('read', () => 7);
  await ctx.approve('refund', { amount: 7 }, () => 'paid');
  ctx.usage({ model: 'acme/small', inputTokens: 5, outputTokens: 1 });
});
`;
const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });

/** Everything that servers counted in a histogram, those that were killed included. */
function total(receiver: SpanReceiver, name: string, wanted: Record<string, string>) {
  const points = receiver
    .lastPoints(name)
    .filter(({ attributes }) =>
      Object.entries(wanted).every(([key, is]) => attributes[key] === is),
    );
  const sumOf = (numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0);
  return {
    count: sumOf(points.map(({ count }) => count)),
    sum: sumOf(points.map(({ sum }) => sum)),
  };
}

test('tokens, calls and runs count once over kill -9 and a replay (D-588, D-931)', async () => {
  requireSandbox();
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const receiver = await SpanReceiver.open();
  const place = await createServerFolder({
    agents: {
      clerk: { framework: 'code', approval_required_tools: ['refund'] },
      thinker: {
        framework: 'ai-sdk',
        model: 'openai-compatible/scripted',
        env: { BASE_URL: `${model.url}/v1` },
        tools: ['list_files'],
      },
    },
    settings: pushingTo(receiver),
  });
  onTestFinished(() => place.remove());
  writeFileSync(join(place.agentsDir, 'clerk/agent.ts'), clerk);
  const first = await ServerProcess.start(place);
  onTestFinished(async () => void (await first.kill()));
  const caller = await Caller.open(place);
  const begin = async (agent: string, prompt: string) => {
    const { id } = await caller.openSession(agent);
    return caller.startRun(id, prompt);
  };
  const asking = await begin('clerk', 'go');
  const thinking = await begin('thinker', '@@ say One && call list_files {} ;; hang');
  const [asked] = await eventually(async () => {
    const open = await caller.interactions(asking.session_id);
    return open.length > 0 && open;
  });
  const usage = (model: string, type: string) =>
    total(receiver, 'gen_ai.client.token.usage', {
      'gen_ai.request.model': model,
      'gen_ai.token.type': type,
    });
  const calls = (name: string) =>
    total(receiver, 'gen_ai.execute_tool.duration', { 'gen_ai.tool.name': name }).count;
  /** The first may have been read before what was to be counted. */
  const twoPushes = () => {
    const pushes = receiver.requests.length + 2;
    return eventually(() => receiver.requests.length >= pushes);
  };
  // What was counted after the last push dies with its server.
  await eventually(() => calls('read') === 1 && calls('list_files') === 1);
  await eventually(
    () => usage('small', 'input').count === 1 && usage('scripted', 'input').count === 1,
  );
  await eventually(() => model.log.requests.length === 2);
  await twoPushes();
  await first.kill();

  const next = await ServerProcess.start(place, { command: 'serve' });
  onTestFinished(async () => void (await next.kill()));
  await caller.renewToken();
  // The cut request is sent again, by the leg that continues.
  await eventually(() => model.log.requests.length === 3);
  await caller.answer(asking.session_id, asked?.interaction_key ?? '', { decision: 'allow' });
  await caller.call('POST', `${runPath(at(thinking))}/cancel`);
  const ends = await Promise.all(
    [asking, thinking].map((run) =>
      eventually(async () => {
        const now = await caller.run(at(run));
        return isTerminalRunStatus(now.status) && now;
      }),
    ),
  );
  expect(ends.map(({ status }) => status)).toEqual(['completed', 'cancelled']);
  const runs = (name: string) =>
    total(receiver, 'gen_ai.invoke_agent.duration', { 'gen_ai.agent.name': name }).count;
  await eventually(() => runs('clerk') > 0 && runs('thinker') > 0);
  await twoPushes();

  const servers = receiver.points.map(({ resource }) => resource['service.instance.id']);
  expect(new Set(servers).size).toBe(2);
  expect([calls('read'), calls('refund'), calls('list_files')]).toEqual([1, 1, 1]);
  const used = ends.map(({ usage: of }) => [of?.input_tokens, of?.output_tokens]);
  const told = ['small', 'scripted'].map((name) => [
    usage(name, 'input').sum,
    usage(name, 'output').sum,
  ]);
  expect(told).toEqual(used);
  expect(told[0]).toEqual([12, 3]);
  expect([runs('clerk'), runs('thinker')]).toEqual([1, 1]);
});
