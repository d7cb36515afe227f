import type { Harness } from '../../ports/harness.ts';
import { LazyLeg } from '../lazy-leg.ts';
import type { StdioParts } from './leg.ts';
import { type StdioSettings, readStdio } from './settings.ts';

/** Agents that are programs in any language and exchange JSON lines: one sandboxed process per leg. */
export function stdioHarness(parts: StdioParts): Harness<StdioSettings> {
  return {
    framework: 'stdio',
    reportsCost: true,
    runsPrograms: true,
    afterLoss: 'point',
    // Only the author knows whether every effect of the program passes the ledger.
    onLoss: 'fail',
    read: readStdio,
    start: (input, context) =>
      new LazyLeg(import('./leg.ts').then(({ StdioLeg }) => new StdioLeg(parts, input, context))),
  };
}
