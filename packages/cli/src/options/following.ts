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
    .option('--stream', 'write the answer as it comes, also into a pipe or a file')
    .addOption(
      new Option(
        '--approve <decision>',
        'answer to every permission request; fail cancels the run',
      ).choices(['allow', 'deny', 'fail']),
    )
    .option(
      '--answer <text>',
      'answer to the next question: words or the number of an option; may be repeated',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option('--timeout <time>', 'leave the run after this time: 90s, 15m, 8h', seconds)
    .option('--unattended', 'ask nothing here: leave the run as soon as it waits for a person')
    .addHelpText(
      'after',
      '\nWithout a terminal the command does not wait for a person unless --timeout says how long; it never reads answers\n' +
        'from standard input. A run that is left goes on: exit code 7, and the command that answers is printed.\n' +
        'A pipe or a file gets the answer when the run has ended or is left: a server that stops under a run takes back\n' +
        'its last words. With --stream they are written as they come, and said again after an interruption.\n',
    );
}
