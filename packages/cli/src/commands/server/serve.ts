import { Command } from 'commander';
import { report } from '../../operating.ts';
import { settingsHelp } from '../../options/settings-help.ts';
import { loadServer } from '../../server.ts';
import { remark } from '../../terminal/output.ts';
import { untilStopped } from './until-stopped.ts';

/** Said at every start until there is one: without an organization no person can sign in. */
const noOrganization =
  'No organization yet. Next, with the settings of this server: npx convoke admin org create --name Acme (docs/guides/people.md#bootstrap)';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the server in production mode')
    .option('--role <roles>', 'api, worker, or both: api,worker (the same as CONVOKE_ROLE)')
    .addHelpText('after', settingsHelp)
    .addHelpText(
      'after',
      '\nExample:\n  CONVOKE_PORT=8080 npx convoke serve\n  CONVOKE_DATABASE_URL=postgres://… npx convoke serve --role worker\n',
    )
    .action(async ({ role }: { role?: string }, command: Command) => {
      const { readConfig, runServer } = await loadServer();
      const env = role === undefined ? process.env : { ...process.env, CONVOKE_ROLE: role };
      const server = await runServer(readConfig(env));
      const { convoke, listensOn } = server;
      const { baseUrl } = convoke;
      const facts = { base_url: baseUrl, listens_on: listensOn };
      const { organizations } = convoke.services.store.read;
      // Before the first line: a person who sees that line may stop the server, which closes the store.
      const first = await organizations.first();
      report(command, facts, `listening on ${listensOn}, clients use ${baseUrl}`);
      if (first === undefined) remark(noOrganization, 'yellow');
      await untilStopped(server);
    });
}
