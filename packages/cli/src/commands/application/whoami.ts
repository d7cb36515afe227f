import type { MeRecord } from '@convoke/sdk';
import { Command } from 'commander';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { type ClientLogin, findClientLogin } from '../../sign-in/client-login.ts';
import { connectAs, noLogin } from '../../sign-in/connection.ts';
import { type FoundPerson, findPerson, membershipsOf } from '../../sign-in/person.ts';
import { type UsedLogin, noteLogin } from '../../sign-in/used-login.ts';
import { oneLine, print, printJson, styled } from '../../terminal/output.ts';

/** Shows both kinds of credentials; each is for commands of its own (D-55). */
export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Show the server and logins in use, and their permissions')
    .addHelpText('after', example('whoami'))
    .action(async (_options: unknown, command: Command) => {
      const options = globalOptions(command);
      const found = await findClientLogin(options.client);
      const foundPerson = await findPerson();
      if (found === undefined && foundPerson === undefined) throw noLogin();
      const client = found && (await describeClient(found));
      const person = foundPerson && (await describePerson(foundPerson));
      if (options.json) {
        const { facts, memberships } = person ?? {};
        printJson({
          automation_client: client?.facts ?? null,
          person: facts === undefined ? null : { ...facts, memberships },
        });
      } else {
        show('Automation client, for agents, sessions, runs and files', client?.facts);
        print('');
        show('Person, for clients, credentials and tenants', person?.facts);
        for (const { organization_name: name, role } of person?.memberships ?? []) {
          print(`  ${'role'.padEnd(14)}${role} of ${oneLine(name)}`);
        }
      }
      // The local settings were shown; a server that does not confirm them is a failure anyway.
      const problem = client?.problem ?? person?.problem;
      if (problem === undefined) return;
      noteLogin(problem.used);
      throw problem.error;
    });
}

interface CallerDescription {
  readonly facts: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly memberships?: MeRecord['memberships'];
  readonly problem?: { readonly error: unknown; readonly used: UsedLogin };
}

async function describeClient(found: ClientLogin): Promise<CallerDescription> {
  const { login, credentials } = found;
  const { baseUrl, clientId: client_id, organizationId, tenantId } = credentials;
  const known = { login, base_url: baseUrl, client_id };
  try {
    const caller = await (await connectAs(found)).whoami();
    return { facts: { ...known, ...caller } };
  } catch (error) {
    const selected = { organization_id: organizationId, tenant_id: tenantId };
    return { facts: { ...known, ...selected }, problem: { error, used: { login, baseUrl } } };
  }
}

async function describePerson({ login, baseUrl, open }: FoundPerson): Promise<CallerDescription> {
  const known = { login, base_url: baseUrl };
  try {
    const person = await open();
    if (person === undefined) return { facts: known };
    const memberships = await membershipsOf(baseUrl, person.token);
    const organization_ids = memberships.map(({ organization_id }) => organization_id);
    return {
      facts: { ...known, user: subjectOf(person.token), organization_ids },
      memberships,
    };
  } catch (error) {
    return { facts: known, problem: { error, used: { login, baseUrl } } };
  }
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

const titles: Readonly<Record<string, string>> = {
  login: 'login',
  base_url: 'server',
  client_id: 'client',
  profile: 'profile',
  organization_id: 'organization',
  tenant_id: 'tenant',
  scopes: 'scopes',
  user: 'user',
  organization_ids: 'organizations',
};

function show(title: string, facts: CallerDescription['facts'] | undefined): void {
  print(styled('bold', title));
  if (facts === undefined) print('  none');
  for (const [name, label] of Object.entries(titles)) {
    const value = facts?.[name];
    if (value === undefined) continue;
    print(`  ${label.padEnd(14)}${typeof value === 'object' ? value.join(' ') : value}`);
  }
}
