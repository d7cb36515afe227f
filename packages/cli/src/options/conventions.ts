import { Command } from 'commander';

/** What holds for every command at every level; commander does not hand it down by itself. */
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
 * Without the name of a command below it a group does what it does by default, and takes a misspelt name for an
 * argument. Those are ids, which all hold an underscore, so a word without one was meant as a command.
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

/** `error: unknown command 'x'` and its suggestion, as one line. */
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
