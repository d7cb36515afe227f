import { Command } from 'commander';
import { runOf } from '../../../complete-id.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { messageData } from '../../../options/message-data.ts';
import { example } from '../../../options/options.ts';
import { connect } from '../../../sign-in/connection.ts';
import { print, printJson } from '../../../terminal/output.ts';

interface SignalOptions {
  readonly data?: string;
  readonly idempotencyKey?: string;
}

/** The data is an option (D-1052). */
export function signalRun(): Command {
  return new Command('signal')
    .description('Send a message to a run; its agent gets it where it waits for one of this name')
    .addHelpText('after', example(`runs signal run_… paid --data '{"amount": 20}'`))
    .argument('<run>', 'run id')
    .argument('<name>', 'name of the message')
    .option('--data <json>', 'payload of the message (default: null)')
    .option('--idempotency-key <key>', 'the same key again sends nothing more')
    .action(async (id: string, name: string, options: SignalOptions, command: Command) => {
      const data = messageData('--data', options.data);
      const run = await runOf(await connect(command), id, undefined);
      const { idempotencyKey } = options;
      const sent = await run.signal(name, data, { idempotencyKey });
      if (globalOptions(command).json) return printJson(sent);
      print(`${sent.run_id}  ${sent.name} ${sent.status}`);
    });
}
