import { Command } from 'commander';
import { type Answering, addAnsweringOptions } from '../options/answering.ts';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { followRun } from '../terminal/follow-run.ts';
import { print } from '../terminal/output.ts';

export function eventsCommand(): Command {
  const command = new Command('events')
    .description('Show the events of a run; with --follow until it ends')
    .argument('<session>')
    .argument('<run>')
    .option('--follow', 'wait for new events until the run ends')
    .option('--after <id>', 'only events after this id')
    .addHelpText('after', example('events sess_… run_… --follow --json'))
    .action(async (session: string, id: string, options: EventsOptions, shown: Command) => {
      const run = (await connect(shown)).sessions.at(session).runs.at(id);
      const { json = false } = globalOptions(shown);
      if (options.follow === true) {
        await followRun(run, { json, answering: options, after: options.after });
        return;
      }
      for await (const event of run.events()) {
        if (options.after !== undefined && event.id <= options.after) continue;
        print(
          json
            ? JSON.stringify(event)
            : `${event.id}  ${event.type}  ${JSON.stringify(event.data)}`,
        );
      }
    });
  return addAnsweringOptions(command);
}

interface EventsOptions extends Answering {
  readonly follow?: boolean;
  readonly after?: string;
}
