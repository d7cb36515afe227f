// The table of docs/guides/durable-runs.md: what survives what, per framework. faults/rolling-restart.fault.test.ts
// hands runs of these frameworks over, and the recovery tests of each framework lose them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../../../test/repository.ts';
import { builtHarnesses } from '../../src/compose/services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';
import { temporaryFolder } from '../support/agent-folders.ts';
import { quietLog } from '../support/quiet-log.ts';

const byName = (a: string, b: string) => a.localeCompare(b);
const guide = readFileSync(join(root, 'docs/guides/durable-runs.md'), 'utf8');

/** Rows of the first table: framework, what a stop does to its runs, what a loss does. */
const rows = new Map(
  guide
    .slice(guide.indexOf('| framework |'))
    .split('\n\n')[0]
    ?.split('\n')
    .slice(2)
    .flatMap((line) => {
      const [, frameworks = '', stopped = '', lost = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      return frameworks
        .split(', ')
        .map((name) => [name.replaceAll('`', ''), { stopped, lost }] as const);
    }),
);

test('the guide says of every framework what happens after a loss, as the framework declares it (D-88)', async () => {
  const sandbox = await openSandbox({
    mode: 'none',
    dataDir: await temporaryFolder(),
    clock: systemClock,
    log: quietLog,
  });
  onTestFinished(() => sandbox.close());
  const harnesses = builtHarnesses({ sandbox, clock: systemClock, log: quietLog, a2aAllow: [] });
  expect([...rows.keys()].sort(byName)).toEqual(
    harnesses.map(({ framework }) => framework).sort(byName),
  );
  for (const { framework, afterLoss = 'none' } of harnesses) {
    const { lost = '' } = rows.get(framework) ?? {};
    const continues = /\b(continues|follows)\b/.test(lost);
    expect([framework, continues]).toEqual([framework, afterLoss !== 'none']);
    // Those whose calls do not all pass the ledger continue only where the agent's author says so.
    const isChosen = ['point', 'continue', 'session'].includes(afterLoss);
    if (isChosen) expect([framework, lost]).toEqual([framework, expect.stringContaining('resume')]);
  }
});

test('the guide says `handed over` of every framework that a rolling restart is tested with (D-85)', () => {
  const handedOver = [...rows].flatMap(([framework, { stopped }]) =>
    stopped.startsWith('handed over') ? [framework] : [],
  );
  const tested = readFileSync(
    join(import.meta.dirname, '../faults/rolling-restart.fault.test.ts'),
    'utf8',
  );
  const courier = /framework: (\w+)/.exec(
    readFileSync(join(import.meta.dirname, 'stdio/courier/agent.yaml'), 'utf8'),
  );
  const frameworks = Array.from(tested.matchAll(/framework: '([\w-]+)'/g), ([, name = '']) => name);
  expect(frameworks).toHaveLength(5);
  expect(handedOver).toEqual(expect.arrayContaining([...frameworks, courier?.[1] ?? '']));
});
