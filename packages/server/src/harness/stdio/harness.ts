import type { Harness, LegEnd } from '../../ports/harness.ts';
import { LazyLeg } from '../lazy-leg.ts';
import type { StdioParts } from './leg.ts';
import { type StdioSettings, readStdio } from './settings.ts';

const lineBytesMax = 1024 * 1024;

/** Agents that are programs in any language and exchange JSON lines: one sandboxed process per leg. */
export function stdioHarness(parts: StdioParts): Harness<StdioSettings> {
  return {
    framework: 'stdio',
    output: 'native',
    reportsCost: true,
    runsPrograms: true,
    afterLoss: 'point',
    // Only the author knows whether every effect of the program passes the ledger.
    onLoss: 'fail',
    callsAgents: true,
    read: readStdio,
    start: (input, context) => {
      const program = {
        command: context.settings.command,
        readOnly: [],
        lineBytesMax,
        endsByExit: true,
        eventOf: () => undefined,
        asksByCallId: false,
        endWith: (end: LegEnd) => end,
      };
      const started = { input, context };
      return new LazyLeg(
        import('./leg.ts').then(({ StdioLeg }) => new StdioLeg(parts, started, program)),
      );
    },
  };
}
