import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { adminCommand } from './commands/operate/admin/admin.ts';
import { agentsCommand } from './commands/application/agents.ts';
import { auditCommand } from './commands/operate/audit.ts';
import { budgetsCommand } from './commands/organization/budgets.ts';
import { chatCommand } from './commands/application/chat.ts';
import { clientsCommand } from './commands/organization/clients.ts';
import { completionCommand } from './commands/completion.ts';
import { consoleCommand } from './commands/server/console.ts';
import { credentialsCommand } from './commands/organization/credentials.ts';
import { devCommand } from './commands/server/dev.ts';
import { doctorCommand } from './commands/operate/doctor.ts';
import { eventsCommand } from './commands/application/events.ts';
import { filesCommand } from './commands/application/files.ts';
import { inboxCommand } from './commands/application/inbox.ts';
import { interactionsCommand } from './commands/application/interactions.ts';
import { invokeCommand } from './commands/application/invoke.ts';
import { loginCommand, logoutCommand } from './commands/organization/login.ts';
import { loginsCommand } from './commands/application/logins.ts';
import { migrateCommand } from './commands/operate/migrate.ts';
import { runsCommand } from './commands/application/runs.ts';
import { schedulesCommand } from './commands/application/schedules.ts';
import { serveCommand } from './commands/server/serve.ts';
import { sessionsCommand } from './commands/application/sessions.ts';
import { tenantsCommand } from './commands/organization/tenants.ts';
import { exportCommand, importCommand } from './commands/operate/transfer.ts';
import { usageCommand } from './commands/application/usage.ts';
import { webhooksCommand } from './commands/application/webhooks.ts';
import { whoamiCommand } from './commands/application/whoami.ts';
import { watchCommand } from './commands/application/watch.ts';
import { workspacesCommand } from './commands/application/workspaces.ts';
import { exitCodesHelp } from './failure.ts';
import { applyConventions } from './options/conventions.ts';
import { armSpinner } from './terminal/spinner.ts';

/** Creates the program with all commands. */
export function createProgram(): Command {
  const program: Command = new Command('convoke');
  program
    .description('Run and talk to Convoke, the agent invocation service')
    .version(ownVersion())
    .option('--json', 'print JSON, for scripts')
    .option('--verbose', 'show full error details')
    .option('--client <name>', 'name of the saved login to use; `convoke logins` lists them')
    .commandsGroup('Run the server:')
    .addCommand(devCommand())
    .addCommand(serveCommand())
    .addCommand(consoleCommand())
    .commandsGroup('Invoke agents, as an automation client:')
    .addCommand(agentsCommand())
    .addCommand(invokeCommand())
    .addCommand(chatCommand())
    .addCommand(sessionsCommand())
    .addCommand(runsCommand())
    .addCommand(eventsCommand())
    .addCommand(interactionsCommand())
    .addCommand(inboxCommand())
    .addCommand(filesCommand())
    .addCommand(watchCommand())
    .addCommand(schedulesCommand())
    .addCommand(webhooksCommand())
    .addCommand(whoamiCommand())
    .addCommand(workspacesCommand())
    .addCommand(usageCommand())
    .addCommand(loginsCommand())
    .commandsGroup('Manage the organization, as a person:')
    .addCommand(loginCommand())
    .addCommand(logoutCommand())
    .addCommand(clientsCommand())
    .addCommand(credentialsCommand())
    .addCommand(tenantsCommand())
    .addCommand(budgetsCommand())
    .commandsGroup('Operate the server:')
    .addCommand(adminCommand())
    .addCommand(auditCommand())
    .addCommand(doctorCommand())
    .addCommand(migrateCommand())
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(completionCommand(() => program))
    .addHelpText('after', exitCodesHelp)
    .addHelpText('after', '\nExample:\n  npx convoke dev\n  npx convoke invoke demo "Hello"\n')
    .hook('preAction', () => armSpinner('waiting for the server'));
  applyConventions(program);
  return program;
}

/** Read, not imported: Node 20 warns of an imported JSON file. */
function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
