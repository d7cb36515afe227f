/** `node bench/cluster.ts [--quick] [--only scale,delivery,history]`: several servers on one PostgreSQL. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { setup } from '../test/services.ts';
import { measureDelivery } from './cluster/delivery.ts';
import { measureHistory } from './cluster/history.ts';
import { measureScale } from './cluster/scale.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const isWanted = (what: string) =>
  values.only === undefined || values.only.split(',').includes(what);
const whole = (figure: number) => Math.round(figure).toLocaleString('en');
const size = values.quick
  ? { ms: 1_500, events: 1_000, stored: 200_000, times: 40 }
  : { ms: 5_000, events: 8_000, stored: 10_000_000, times: 200 };

const stop = await setup();
const lines = [
  `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}) for everything: servers,`,
  `PostgreSQL, load; load average ${(loadavg()[0] ?? 0).toFixed(1)} before the start`,
  '',
];
if (isWanted('scale')) {
  lines.push(
    '| servers | run starts/s, 32 callers | events appended/s, 32 runs |',
    '|---|---|---|',
  );
  for (const servers of [1, 2, 4]) {
    process.stderr.write(`… ${servers} servers\n`);
    const { startsPerSecond, eventsPerSecond } = await measureScale(servers, size.ms);
    lines.push(`| ${servers} | ${whole(startsPerSecond)} | ${whole(eventsPerSecond)} |`);
  }
  lines.push('');
}
if (isWanted('delivery')) {
  lines.push('| woken by | from one server to a reader of another, p50 | p99 |', '|---|---|---|');
  for (const wakeups of ['postgres', 'nats'] as const) {
    process.stderr.write(`… delivery by ${wakeups}\n`);
    const { p50, p99 } = await measureDelivery(wakeups, size.events);
    lines.push(`| ${wakeups} | ${p50} ms | ${p99} ms |`);
  }
  lines.push('');
}
if (isWanted('history')) {
  process.stderr.write(`… history of ${whole(size.stored)} events\n`);
  const { stored, emptyMs, fullMs } = await measureHistory(size.stored, size.times);
  lines.push(
    `Start, fifty events and a reader, p50: ${emptyMs.toFixed(1)} ms with an empty log, ${fullMs.toFixed(1)} ms with`,
    `${whole(stored)} events stored (${(fullMs / emptyMs).toFixed(2)}x).`,
  );
}
process.stdout.write(`\n${lines.join('\n')}\n`);
await stop?.();
