import { Command } from 'commander';
import { operating, report } from '../../operating.ts';
import { example } from '../../options/options.ts';

export function keysCommand(): Command {
  const rotate = new Command('rotate')
    .description('Replace the signing key; tokens it signed stay valid')
    .addHelpText('after', example('admin keys rotate'))
    .action(async (_options: unknown, command: Command) => {
      const kid = await operating((operator) => operator.rotateKeys());
      const text = `The next key is ${kid}. It is published now and signs in ten minutes.`;
      report(command, { kid }, text);
    });
  return new Command('keys')
    .description('Manage the keys that sign tokens')
    .addCommand(rotate)
    .addHelpText('after', example('admin keys rotate'));
}
