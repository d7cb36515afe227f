import { Argument, Command } from 'commander';
import { print } from '../terminal/output.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** Prints a completion script for a shell, generated from the program. */
export function completionCommand(wholeProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .description('Print the completion script for your shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', '\nExample:\n  source <(npx convoke completion bash)\n')
    .action(async (shell: Shell) => print(scripts[shell](wordsOf(await wholeProgram()))));
}

const everywhere = ['--json', '--verbose', '--help'];

/** Returns the words that may follow each command path ("", "sessions", "sessions stop"). */
function wordsOf(command: Command, path = ''): ReadonlyMap<string, readonly string[]> {
  const names = command.commands.map((sub) => sub.name());
  const own = command.options.flatMap((option) => option.long ?? []);
  const options = new Set([...own, ...everywhere]);
  const words = new Map([[path, [...names, ...options]]]);
  for (const sub of command.commands) {
    const below = path === '' ? sub.name() : `${path} ${sub.name()}`;
    for (const [key, value] of wordsOf(sub, below)) words.set(key, [...value]);
  }
  return words;
}

const scripts: Record<Shell, (words: ReadonlyMap<string, readonly string[]>) => string> = {
  bash: (words) => `${wordsFunction(words)}
_convoke() { COMPREPLY=($(compgen -W "$(_convoke_words)" -- "\${COMP_WORDS[COMP_CWORD]}")); }
complete -F _convoke convoke`,

  zsh: (words) => `(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }
autoload -U +X bashcompinit && bashcompinit
${scripts.bash(words)}`,

  fish: (words) =>
    [...words]
      .flatMap(([path, following]) => {
        const condition = fishCondition(path, following);
        return following.map((word) =>
          word.startsWith('--')
            ? `complete -c convoke -n '${condition}' -l ${word.slice(2)}`
            : `complete -c convoke -f -n '${condition}' -a ${word}`,
        );
      })
      .join('\n'),
};

/** Renders a shell function that finds the command as the longest path of known words, skipping arguments. */
function wordsFunction(words: ReadonlyMap<string, readonly string[]>): string {
  const known = [...words.keys()].filter((path) => path !== '').map((path) => `"${path}"`);
  const cases = [...words].map(
    ([path, following]) => `    "${path}") echo "${following.join(' ')}" ;;`,
  );
  return `_convoke_words() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "\${path:+$path }$word" in
      ${known.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
}`;
}

/** Requires every word of the path and none of its subcommands. */
function fishCondition(path: string, following: readonly string[]): string {
  const below = following.filter((word) => !word.startsWith('--'));
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const unseen = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
  return path === '' ? '__fish_use_subcommand' : [...seen, ...unseen].join('; and ');
}
