import { type Command, Option } from 'commander';
import { seconds } from './durations.ts';

/** How a command that follows a run shows it. */
export interface Following extends Answering {
  readonly stream?: boolean;
}

/** How a command that follows a run answers without a person, and how long it waits for one. */
export interface Answering {
  readonly approve?: 'allow' | 'deny' | 'fail';
  readonly answer?: readonly string[];
  /** Seconds. */
  readonly timeout?: number;
  /** Asks no person and waits for none. */
  readonly unattended?: true;
}

export function addFollowingOptions(command: Command): Command {
  return command
    .option('--stream', 'stream the answer, even to a pipe or a file')
    .addOption(
      new Option(
        '--approve <decision>',
        'decision for every permission request; fail cancels the run',
      ).choices(['allow', 'deny', 'fail']),
    )
    .option(
      '--answer <text>',
      'answer to the next question: text or an option number; may be repeated',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option('--timeout <time>', 'leave the run after this long: 90s, 15m, 8h', seconds)
    .option('--unattended', 'never prompt: leave the run as soon as it waits for a person')
    .addHelpText(
      'after',
      '\nWithout a terminal the command waits for a person only if --timeout says how\n' +
        'long, and never reads answers from standard input. If it leaves the run, the\n' +
        'run continues: the exit code is 7, and the command that answers is printed. A\n' +
        'pipe or a file gets the answer once the run has ended or is left, because an\n' +
        'interruption can discard the last words. With --stream they are written as they\n' +
        'arrive, and repeated after an interruption.\n',
    );
}
