import type { Finding } from '@convoke/server';
import { Command } from 'commander';
import { exitCodes } from '../failure.ts';
import { report } from '../operating.ts';
import { example } from '../options/options.ts';
import { styled } from '../terminal/output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Examine this machine and its deployment, and say what to do')
    .addHelpText('after', example('doctor'))
    .addHelpText(
      'after',
      '\nWith --json prints {"ok", "findings": […]}. Ends with 1 when something fails.\n',
    )
    .action(async (_options: unknown, command: Command) => {
      const { examine, readConfig } = await import('@convoke/server');
      const findings = await examine(readConfig(process.env));
      const ok = findings.every(({ state }) => state !== 'fail');
      report(command, { ok, findings }, findings.map(line).join('\n'));
      if (!ok) process.exitCode = exitCodes.failed;
    });
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function line({ check, state, text, remedy }: Finding): string {
  const judged = styled(colours[state], state.padEnd(4));
  const next = remedy === undefined ? '' : `\n${' '.repeat(18)}→ ${remedy}`;
  return `${judged}  ${check.padEnd(11)} ${text}${next}`;
}
