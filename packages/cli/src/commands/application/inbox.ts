import { nameWithCaller } from '@convoke/faces';
import type { InteractionSummary } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { Inbox } from '../../terminal/inbox.ts';
import { printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age } from '../../terminal/times.ts';

export function inboxCommand(): Command {
  return new Command('inbox')
    .description('Answer pending approvals and questions as they arrive')
    .option('--agent <name>', 'only interactions of this agent')
    .option('--label <key:value>', 'only for runs with this label; may be repeated', repeated)
    .option('--list', 'list pending requests and exit')
    .addOption(limitOption())
    .addHelpText('after', example('inbox --label team:payments'))
    .addHelpText(
      'after',
      '\nWithout a terminal, or with --json, lists pending requests and exits.\n',
    )
    .action(async (options: InboxOptions, command: Command) => {
      const convoke = await connect(command);
      const filter = { agent_name: options.agent, label: options.label };
      const { json = false } = globalOptions(command);
      const isAttended = process.stdin.isTTY && process.stderr.isTTY;
      if (isAttended && !json && options.list !== true) return new Inbox(convoke, filter).run();
      const interactions = await collect(convoke.interactions.list(filter), options.limit);
      if (json) return printJson({ interactions });
      printTable(
        ['KEY', 'AGENT', 'KIND', 'AGE', 'WHAT', 'RUN'],
        interactions.map((item) => [
          item.interaction_key,
          nameWithCaller(item),
          item.kind,
          age(item.created_at),
          whatOf(item),
          item.run_id,
        ]),
      );
    });
}

interface InboxOptions {
  readonly agent?: string;
  readonly label?: readonly string[];
  readonly list?: boolean;
  readonly limit: number;
}

function whatOf({ question, tool_name, preview }: InteractionSummary): string {
  return question ?? `${tool_name ?? ''} for: ${preview}`;
}
