import { Command } from 'commander';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { followRun } from '../terminal/follow-run.ts';
import { remark } from '../terminal/output.ts';

export function invokeCommand(): Command {
  return new Command('invoke')
    .description('Run an agent once and stream its answer')
    .argument('<agent>', 'name of the agent (see `convoke agents`)')
    .argument('<prompt>', 'prompt for the agent')
    .option('--session <id>', 'run it in this session instead of a new one')
    .addHelpText('after', example('invoke demo "Hello"'))
    .addHelpText(
      'after',
      '\nExit codes: 0 completed, 3 failed, 4 cancelled; Ctrl-C cancels the run, a second Ctrl-C exits\n',
    )
    .action(
      async (agent: string, prompt: string, options: { session?: string }, command: Command) => {
        const { json = false } = globalOptions(command);
        const convoke = await connect(command);
        const { session: id } = options;
        const session =
          id === undefined ? await convoke.sessions.create(agent) : convoke.sessions.at(id);
        const run = await session.run(prompt);
        await followRun(run, { json });
        if (!json) remark(`session ${session.id}, run ${run.id}`, 'dim');
      },
    );
}
