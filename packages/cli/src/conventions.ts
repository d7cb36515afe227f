import type { Command } from 'commander';

/** What holds for every command at every level; commander does not hand it down by itself. */
export function applyConventions(command: Command): void {
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      outputError: (text, emit) =>
        emit(`convoke: ${oneLine(text)}; see \`${pathOf(command)} --help\`\n`),
    });
  for (const below of command.commands) applyConventions(below);
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
