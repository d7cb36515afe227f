import { Command } from 'commander';
import { catalogue } from './commands/catalogue.ts';
import { exitCodesHelp } from './failure.ts';
import { applyConventions } from './options/conventions.ts';
import { ownVersion } from './own-version.ts';
import { waitOf } from './wait-of.ts';
import { armSpinner } from './terminal/spinner.ts';

/** Their log would continue the spinner's line. */
const servers: ReadonlySet<string> = new Set(['dev', 'serve']);

/**
 * Creates the program with the one command that `words` name, so that only its modules are loaded. Words that name no
 * command get all of them: `--help` lists them, and a misspelt one is compared with each.
 */
export async function createProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command('convoke')
    .description('Run and talk to Convoke, the agent invocation service')
    .version(ownVersion())
    .option('--json', 'print JSON, for scripts')
    .option('--verbose', 'show full error details')
    .option('--client <name>', 'name of the saved login to use; `convoke logins` lists them')
    .addHelpText('after', exitCodesHelp)
    .addHelpText('after', '\nExample:\n  npx convoke dev\n  npx convoke invoke demo "Hello"\n')
    .hook('preAction', (_program, command) => {
      if (!servers.has(command.name())) armSpinner(waitOf(wordsOf(command)));
    });
  const named = commandAmong(words);
  for (const [heading, commands] of Object.entries(catalogue)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(commands)) {
      if (named === undefined || name === named) program.addCommand(await load(createProgram));
    }
  }
  applyConventions(program);
  return program;
}

/** The words that name a command: `agents`, `rehearse`. */
function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}

/** Returns the command that the words after the program's options name; undefined if they name no command. */
function commandAmong(words: readonly string[]): string | undefined {
  const word = words.find((text, at) => !text.startsWith('-') && words[at - 1] !== '--client');
  return Object.values(catalogue).some((commands) => Object.hasOwn(commands, word ?? ''))
    ? word
    : undefined;
}
