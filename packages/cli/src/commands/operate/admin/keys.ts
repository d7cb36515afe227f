import { Command } from 'commander';
import { operating, report } from '../../../operating.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { example } from '../../../options/options.ts';
import { printJson } from '../../../terminal/output.ts';
import { printTable } from '../../../terminal/table.ts';

export function keysCommand(): Command {
  const rotate = new Command('rotate')
    .description('Replace the signing key; tokens it signed stay valid')
    .addHelpText('after', example('admin keys rotate'))
    .action(async (_options: unknown, command: Command) => {
      const kid = await operating((operator) => operator.rotateKeys());
      const text = `The next key is ${kid}. It is published now and starts signing in ten minutes.`;
      report(command, { kid }, text);
    });
  return new Command('keys')
    .description('Manage the keys that sign tokens')
    .addCommand(listCommand())
    .addCommand(rotate)
    .addCommand(revokeCommand())
    .addHelpText('after', example('admin keys rotate'));
}

function listCommand(): Command {
  return new Command('list')
    .description('List the signing keys whose tokens are accepted')
    .addHelpText('after', example('admin keys list'))
    .action(async (_options: unknown, command: Command) => {
      const keys = await operating((operator) => operator.listKeys());
      const rows = keys.map(({ kid, signsFrom, retiresAt }) => ({
        kid,
        signs_from: new Date(signsFrom).toISOString(),
        retires_at: retiresAt === null ? null : new Date(retiresAt).toISOString(),
      }));
      if (globalOptions(command).json === true) return printJson({ keys: rows });
      printTable(
        ['KEY', 'SIGNS FROM', 'ACCEPTED UNTIL'],
        rows.map((row) => [row.kid, row.signs_from, row.retires_at ?? '']),
      );
    });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('Revoke a leaked signing key and every token it signed')
    .argument(
      '<kid>',
      'id of the key (see `convoke admin keys list`); put -- before it if it starts with a dash',
    )
    .addHelpText('after', example('admin keys revoke 2zkM…'))
    .action(async (kid: string, _options: unknown, command: Command) => {
      const signing = await operating((operator) => operator.revokeKey(kid));
      const text =
        `Revoked ${kid}. Running servers refuse its tokens within five seconds; clients and people\n` +
        `obtain new ones. ${signing} signs now.`;
      report(command, { kid, signing_kid: signing }, text);
    });
}
