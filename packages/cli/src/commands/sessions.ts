import type { SessionRecord, SessionStatus } from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../collect.ts';
import { globalOptions } from '../options/global-options.ts';
import { example, limitOption } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { print, printJson, printTable } from '../terminal/output.ts';

interface ListOptions {
  readonly status?: SessionStatus;
  readonly agent?: string;
  readonly limit: number;
}

export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('List, show, stop and resume sessions')
    .addCommand(listSessions(), { isDefault: true })
    .addCommand(showSession())
    .addCommand(stopSession())
    .addCommand(resumeSession())
    .addHelpText('after', example('sessions --status waiting'));
}

function listSessions(): Command {
  return new Command('list')
    .description('List sessions, newest first')
    .addHelpText('after', example('sessions list --status waiting'))
    .option('--status <status>', 'only sessions with this status')
    .option('--agent <name>', 'only sessions with this agent')
    .addOption(limitOption())
    .action(async ({ status, agent, limit }: ListOptions, command: Command) => {
      const convoke = await connect(command);
      const found = await collect(convoke.sessions.list({ status, agent_name: agent }), limit);
      const sessions = found.map((session) => session.record);
      if (globalOptions(command).json) return printJson({ sessions });
      printTable(
        ['SESSION', 'AGENT', 'STATUS', 'PENDING', 'CREATED'],
        sessions.map((session) => [
          session.id,
          session.agent_name,
          session.status,
          String(session.pending_interactions),
          session.created_at,
        ]),
      );
    });
}

function showSession(): Command {
  return new Command('show')
    .description('Show one session')
    .addHelpText('after', example('sessions show sess_…'))
    .argument('<session>')
    .action(async (id: string, _options: unknown, command: Command) => {
      show(await (await connect(command)).sessions.at(id).read(), command);
    });
}

function stopSession(): Command {
  return new Command('stop')
    .description('Cancel the runs and suspend the session; --terminate ends it permanently')
    .addHelpText('after', example('sessions stop sess_… --terminate'))
    .argument('<session>')
    .addOption(new Option('--terminate', 'end the session; it cannot be resumed'))
    .option('--reason <text>', 'reason, stored with the session')
    .action(
      async (id: string, options: { terminate?: boolean; reason?: string }, command: Command) => {
        const mode = options.terminate === true ? 'terminate' : 'suspend';
        const session = (await connect(command)).sessions.at(id);
        show(await session.stop({ mode, reason: options.reason }), command);
      },
    );
}

function resumeSession(): Command {
  return new Command('resume')
    .description('Resume a stopped session')
    .addHelpText('after', example('sessions resume sess_…'))
    .argument('<session>')
    .action(async (id: string, _options: unknown, command: Command) => {
      show(await (await connect(command)).sessions.at(id).resume(), command);
    });
}

function show(session: SessionRecord, command: Command): void {
  if (globalOptions(command).json) return printJson(session);
  print(`${session.id}  ${session.agent_name}  ${session.status}`);
}
