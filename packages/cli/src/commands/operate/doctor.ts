import type { Finding } from '@convoke/server';
import { Command } from 'commander';
import { exitCodes } from '../../failure.ts';
import { report } from '../../operating.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { loadServer } from '../../server.ts';
import { styled } from '../../terminal/output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check this machine and its deployment, and suggest fixes')
    .addHelpText('after', example('doctor'))
    .addHelpText(
      'after',
      '\nWith --json prints {"ok", "findings": […]}. Exits with 1 if a check fails.\n',
    )
    .action(async (_options: unknown, command: Command) => {
      const { examine, readConfig } = await loadServer();
      const findings = await examine(readConfig(process.env));
      const ok = findings.every(({ state }) => state !== 'fail');
      const { verbose = false } = globalOptions(command);
      const text = findings.map((finding) => linesOf(finding, verbose)).join('\n');
      report(command, { ok, findings }, text);
      if (!ok) process.exitCode = exitCodes.failed;
    });
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function linesOf({ check, state, text, remedy, details }: Finding, verbose: boolean): string {
  const mark = styled(colours[state], state.padEnd(4));
  const next = remedy === undefined ? '' : `\n${' '.repeat(18)}→ ${remedy}`;
  const more = verbose ? (details ?? []).map((detail) => `\n${' '.repeat(18)}${detail}`) : [];
  return `${mark}  ${check.padEnd(11)} ${text}${next}${more.join('')}`;
}
