import { Command } from 'commander';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import { connect, findCredentials } from '../sign-in/connection.ts';
import type { KnownPerson } from '../sign-in/current-login.ts';
import { knownPerson, organizationsOf } from '../sign-in/person.ts';
import { print, printJson, styled } from '../terminal/output.ts';

/** Shows both kinds of credentials; each is for commands of its own (D-55). */
export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Show the automation client in use and the person who is logged in')
    .addHelpText('after', example('whoami'))
    .action(async (_options: unknown, command: Command) => {
      const options = globalOptions(command);
      const known = await knownPerson();
      // Without a person, connecting without a client prints what to do.
      const isClient = known === undefined || (await findCredentials(options)) !== undefined;
      const client = isClient ? await (await connect(command)).whoami() : undefined;
      const person = known && (await describe(known));
      if (options.json) {
        return printJson({ automation_client: client ?? null, person: person ?? null });
      }
      show('Automation client, for agents, sessions, runs and files', {
        client: client && `${client.client_id} (${client.profile})`,
        organization: client?.organization_id,
        tenant: client?.tenant_id,
        scopes: client?.scopes.join(' '),
      });
      print('');
      show('Person, for clients, credentials and tenants', {
        user: person?.user,
        server: person?.base_url,
        organizations: person?.organization_ids.join(' '),
      });
    });
}

async function describe({ baseUrl, token }: KnownPerson) {
  const organizations = await organizationsOf(baseUrl, token);
  return { user: subjectOf(token), base_url: baseUrl, organization_ids: organizations };
}

/** Reads the user from the token, which the server has just accepted. */
function subjectOf(token: string): string {
  const [, payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as {
    readonly sub?: string;
    readonly email?: string;
  };
  return claims.email ?? claims.sub ?? '(unknown)';
}

function show(title: string, facts: Readonly<Record<string, string | undefined>>): void {
  print(styled('bold', title));
  const lines = Object.entries(facts).filter(([, value]) => value !== undefined);
  if (lines.length === 0) print('  none');
  for (const [name, value] of lines) print(`  ${name.padEnd(14)}${value}`);
}
