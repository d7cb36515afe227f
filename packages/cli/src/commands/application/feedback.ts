import type { FeedbackRecord } from '@convoke/sdk';
import { Command } from 'commander';
import { runOf } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age } from '../../terminal/times.ts';
import { readScore } from './runs/filters.ts';

export function feedbackCommand(): Command {
  return new Command('feedback')
    .description('Say what you think of a run, and read what others say')
    .addCommand(listFeedback(), { isDefault: true })
    .addCommand(putFeedback())
    .addCommand(deleteFeedback())
    .addHelpText('after', example('feedback put run_… rating --score -1 --comment "Wrong team."'));
}

function listFeedback(): Command {
  return new Command('list')
    .description('List the feedback on a run')
    .addHelpText('after', example('feedback list run_…'))
    .argument('<run>', 'run id')
    .action(async (id: string, _options: unknown, command: Command) => {
      const run = await runOf(await connect(command), id, undefined);
      const feedback = await run.feedback.list();
      if (globalOptions(command).json) return printJson({ feedback });
      printTable(
        ['KEY', 'SCORE', 'VALUE', 'AUTHOR', 'AGE', 'COMMENT'],
        feedback.map((given) => [
          given.key,
          String(given.score ?? ''),
          given.value ?? '',
          authorOf(given),
          age(given.updated_at),
          given.comment ?? '',
        ]),
      );
    });
}

function authorOf({ author }: FeedbackRecord): string {
  return author.kind === 'end_user' ? `${author.id} (user)` : (author.name ?? author.id);
}

interface FeedbackOptions {
  readonly score?: number;
  readonly value?: string;
  readonly comment?: string;
  readonly endUser?: string;
}

function putFeedback(): Command {
  return new Command('put')
    .description('Give feedback on a run; it replaces what you gave under the same key')
    .addHelpText('after', example('feedback put run_… rating --score 1'))
    .argument('<run>', 'run id')
    .argument('<key>', 'what the feedback is about, such as rating')
    .option('--score <n>', 'a number; thumbs are 1 and -1', readScore)
    .option('--value <text>', 'a category')
    .option('--comment <text>', 'words about the run')
    .option('--end-user <name>', 'for this user of your product (automation clients only)')
    .action(async (id: string, key: string, said: FeedbackOptions, command: Command) => {
      const { score, value, comment, endUser: end_user } = said;
      if (score === undefined && value === undefined && comment === undefined) {
        throw new Failure('say something: --score, --value or --comment', exitCodes.usage);
      }
      const run = await runOf(await connect(command), id, undefined);
      const given = await run.feedback.put(key, { score, value, comment, end_user });
      if (globalOptions(command).json) return printJson(given);
      print(forOutput(`${run.id}  ${given.key}  ${authorOf(given)}`));
    });
}

function deleteFeedback(): Command {
  return new Command('delete')
    .description('Take back what you said about a run')
    .addHelpText('after', example('feedback delete run_… rating'))
    .argument('<run>', 'run id')
    .argument('<key>', 'what the feedback is about')
    .option('--end-user <name>', 'for this user of your product (automation clients only)')
    .action(async (id: string, key: string, { endUser }: FeedbackOptions, command: Command) => {
      const run = await runOf(await connect(command), id, undefined);
      await run.feedback.delete(key, { end_user: endUser });
      if (globalOptions(command).json) return printJson({ run_id: run.id, key, deleted: true });
      print(`${run.id}  ${key} deleted`);
    });
}
