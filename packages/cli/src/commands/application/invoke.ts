import { Command } from 'commander';
import { sessionOf } from '../../complete-id.ts';
import { type Following, addFollowingOptions } from '../../options/following.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, readLabels } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { followRun } from '../../terminal/follow-run.ts';
import { remark } from '../../terminal/output.ts';

export function invokeCommand(): Command {
  const command = new Command('invoke')
    .description('Run an agent once and stream its answer')
    .argument('<agent>', 'name of the agent (see `convoke agents`)')
    .argument('<prompt>', 'prompt for the agent')
    .option('--session <id>', 'run it in this session instead of a new one')
    .option('--label <key:value>', 'label of the run; may be repeated', readLabels)
    .addHelpText('after', example('invoke demo "Hello"'))
    .addHelpText(
      'after',
      '\nExit codes: 0 completed, 3 failed, 4 cancelled, 7 left. Ctrl-C asks whether to cancel the run or leave it, a second\nCtrl-C exits.\n',
    )
    .action(async (agent: string, prompt: string, options: InvokeOptions, invoked: Command) => {
      const { json = false } = globalOptions(invoked);
      const convoke = await connect(invoked);
      const { session: id, stream = false, label: labels } = options;
      const session =
        id === undefined ? await convoke.sessions.create(agent) : await sessionOf(convoke, id);
      const run = await session.run(prompt, { labels });
      await followRun(run, { json, stream, answering: options });
      if (!json) remark(`session ${session.id}, run ${run.id}`, 'dim');
    });
  return addFollowingOptions(command);
}

interface InvokeOptions extends Following {
  readonly session?: string;
  readonly label?: Readonly<Record<string, string>>;
}
