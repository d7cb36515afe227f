import { Command } from 'commander';

/** Applies settings to a command and all its subcommands; commander does not inherit them. */
export function applyConventions(command: Command): void {
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      outputError: (text, emit) =>
        emit(`convoke: ${oneLine(text)}; see \`${pathOf(command)} --help\`\n`),
    })
    .hook('preSubcommand', refuseMisspelt);
  for (const below of command.commands) applyConventions(below);
}

/**
 * Rejects a misspelt subcommand. A group runs its default command when no subcommand matches, and would take the
 * word as an argument; arguments are ids with an underscore, so a word without one was meant as a command.
 */
function refuseMisspelt(group: Command, chosen: Command): void {
  const [word = ''] = group.args;
  if (!/^[a-z]+$/i.test(word) || word === chosen.name()) return;
  const strict = new Command(group.name())
    .exitOverride()
    .configureOutput(group.configureOutput())
    .helpCommand(false);
  for (const known of group.commands) strict.command(known.name());
  strict.parse([word], { from: 'user' });
}

/** Turns commander's error and its suggestion into one line. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '');
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
