import type { Command } from 'commander';

type Load = (wholeProgram: () => Promise<Command>) => Promise<Command>;

/**
 * Every command, by the heading of `--help` that it stands under. A command is imported only when it runs or when all
 * of them are listed: their modules, and what those import, take longer to load than most commands take to run.
 */
export const catalogue: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Run the server:': {
    dev: async () => (await import('./server/dev.ts')).devCommand(),
    serve: async () => (await import('./server/serve.ts')).serveCommand(),
    console: async () => (await import('./server/console.ts')).consoleCommand(),
  },
  'Invoke agents, as an automation client:': {
    agents: async () => (await import('./application/agents.ts')).agentsCommand(),
    invoke: async () => (await import('./application/invoke.ts')).invokeCommand(),
    chat: async () => (await import('./application/chat.ts')).chatCommand(),
    acp: async () => (await import('./application/acp.ts')).acpCommand(),
    mcp: async () => (await import('./application/mcp.ts')).mcpCommand(),
    sessions: async () => (await import('./application/sessions.ts')).sessionsCommand(),
    runs: async () => (await import('./application/runs.ts')).runsCommand(),
    feedback: async () => (await import('./application/feedback.ts')).feedbackCommand(),
    events: async () => (await import('./application/events.ts')).eventsCommand(),
    interactions: async () => (await import('./application/interactions.ts')).interactionsCommand(),
    inbox: async () => (await import('./application/inbox.ts')).inboxCommand(),
    files: async () => (await import('./application/files.ts')).filesCommand(),
    watch: async () => (await import('./application/watch.ts')).watchCommand(),
    schedules: async () => (await import('./application/schedules.ts')).schedulesCommand(),
    webhooks: async () => (await import('./application/webhooks.ts')).webhooksCommand(),
    connections: async () => (await import('./application/connections.ts')).connectionsCommand(),
    whoami: async () => (await import('./application/whoami.ts')).whoamiCommand(),
    workspaces: async () => (await import('./application/workspaces.ts')).workspacesCommand(),
    usage: async () => (await import('./application/usage.ts')).usageCommand(),
    logins: async () => (await import('./application/logins.ts')).loginsCommand(),
  },
  'Manage the organization, as a person:': {
    login: async () => (await import('./organization/login.ts')).loginCommand(),
    logout: async () => (await import('./organization/login.ts')).logoutCommand(),
    clients: async () => (await import('./organization/clients.ts')).clientsCommand(),
    credentials: async () => (await import('./organization/credentials.ts')).credentialsCommand(),
    members: async () => (await import('./organization/members.ts')).membersCommand(),
    tenants: async () => (await import('./organization/tenants.ts')).tenantsCommand(),
    rules: async () => (await import('./organization/rules.ts')).rulesCommand(),
    budgets: async () => (await import('./organization/budgets.ts')).budgetsCommand(),
  },
  'Operate the server:': {
    admin: async () => (await import('./operate/admin/admin.ts')).adminCommand(),
    audit: async () => (await import('./operate/audit.ts')).auditCommand(),
    backup: async () => (await import('./operate/backup.ts')).backupCommand(),
    doctor: async () => (await import('./operate/doctor.ts')).doctorCommand(),
    migrate: async () => (await import('./operate/migrate.ts')).migrateCommand(),
    export: async () => (await import('./operate/transfer.ts')).exportCommand(),
    import: async () => (await import('./operate/transfer.ts')).importCommand(),
    completion: async (wholeProgram) =>
      (await import('./completion.ts')).completionCommand(wholeProgram),
  },
};
