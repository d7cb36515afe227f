import type { RunEvent } from '@convoke/sdk';
import { Command } from 'commander';
import { runOf } from '../../complete-id.ts';
import { type Following, addFollowingOptions } from '../../options/following.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { eventLines } from '../../terminal/event-lines.ts';
import { followRun } from '../../terminal/follow-run.ts';
import { forOutput, jsonText, print } from '../../terminal/output.ts';

/** Ids of events are numbers with leading zeros, which people need not type. */
const idDigits = 12;

export function eventsCommand(): Command {
  const command = new Command('events')
    .description('Show the events of a run; --follow waits until it ends')
    .argument('<session-or-run>', 'session id, or just the run id')
    .argument('[run]', 'run id or unique prefix')
    .option('--follow', 'wait for new events until the run ends')
    .option('--after <id>', 'only events after this id')
    .addHelpText('after', example('events run_… --follow'))
    .addHelpText('after', '\nWith --json prints every event as it was recorded, one per line.\n')
    .action(
      async (first: string, second: string | undefined, options: EventsOptions, shown: Command) => {
        const convoke = await connect(shown);
        const run = await runOf(convoke, first, second);
        const { json = false } = globalOptions(shown);
        const after = options.after?.padStart(idDigits, '0');
        const { follow = false, stream = false } = options;
        if (follow) {
          await followRun(run, { convoke, json, stream, answering: options, after });
          return;
        }
        const events = eventsAfter(run.events(), after);
        if (json) for await (const event of events) print(jsonText(event));
        else for await (const line of eventLines(events)) print(forOutput(line));
      },
    );
  return addFollowingOptions(command);
}

async function* eventsAfter(
  events: AsyncIterable<RunEvent>,
  after: string | undefined,
): AsyncGenerator<RunEvent> {
  for await (const event of events) if (after === undefined || event.id > after) yield event;
}

interface EventsOptions extends Following {
  readonly follow?: boolean;
  readonly after?: string;
}
