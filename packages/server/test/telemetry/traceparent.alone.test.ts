// What programs learn of the trace of their run (D-588).
import { beforeAll, expect, test } from 'vitest';
import { begin, ended } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { traceProblems } from './trace-oracle.ts';

/** Says what it got of the trace, as the environment and the start message have it. */
const program = `
import json, os, sys
start = json.loads(sys.stdin.readline())
told = [os.environ.get("TRACEPARENT"), start.get("traceparent")]
print(json.dumps({"type": "message_delta", "text": json.dumps(told)}), flush=True)
`;
const teller = { description: 'Tells', framework: 'stdio', command: ['python3', './tell.py'] };
const agents = { teller };
const agentFiles = { 'teller/tell.py': program };

let receiver: SpanReceiver;
beforeAll(async () => {
  receiver = await SpanReceiver.open();
});

async function toldBy(settings: Readonly<Record<string, string>>) {
  const server = await startServer({ agents, agentFiles, env: settings });
  const { run } = await begin(server, 'teller');
  const { status, output_text: text = '', error_message } = await ended(server, run);
  expect([status, error_message]).toEqual(['completed', undefined]);
  return { run, told: JSON.parse(text) as unknown };
}

test('a program gets the span of its leg as its parent (D-588)', async () => {
  const { run, told } = await toldBy(exportingTo(receiver));
  const spans = await eventually(() => {
    const sent = receiver.of(run.id);
    return sent.length === 3 && sent;
  });
  expect(traceProblems(spans)).toEqual([]);
  const leg = spans.find(({ name }) => name === 'convoke.leg');
  const parent = `00-${leg?.traceId}-${leg?.spanId}-01`;
  expect(told).toEqual([parent, parent]);
});

test('a program of a run that is not sampled learns that, and none without traces (D-583)', async () => {
  const { told } = await toldBy({ ...exportingTo(receiver), OTEL_TRACES_SAMPLER: 'always_off' });
  expect(told).toEqual([expect.stringMatching(/-00$/), expect.stringMatching(/-00$/)]);
  expect((await toldBy({})).told).toEqual([null, null]);
});
