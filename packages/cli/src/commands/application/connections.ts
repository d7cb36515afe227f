import { text } from 'node:stream/consumers';
import { type ConnectionRecord, ConvokeError, type PutConnection } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age } from '../../terminal/times.ts';

export function connectionsCommand(): Command {
  return new Command('connections')
    .description('Connect the accounts that agents use, for the tenant or for end users')
    .addCommand(listConnections(), { isDefault: true })
    .addCommand(setConnection())
    .addCommand(deleteConnection())
    .addHelpText('after', example('connections set crm < token.txt'));
}

interface Filter {
  readonly service?: string;
  readonly endUser?: string;
  readonly session?: string;
  readonly limit: number;
}

function listConnections(): Command {
  return new Command('list')
    .description('List connections, newest first; their secrets are never shown')
    .addHelpText('after', example('connections list --service github'))
    .option('--service <name>', 'of this service')
    .option('--end-user <name>', 'of this user of your product')
    .option('--session <id>', 'what the agent of this session uses, connected or missing')
    .addOption(limitOption())
    .action(async (filter: Filter, command: Command) => {
      if (filter.session !== undefined) return listOfSession(filter, command);
      const { service, endUser: end_user, limit } = filter;
      const { connections: found } = await connect(command);
      const connections = await collect(found.list({ service, end_user }), limit);
      if (globalOptions(command).json) return printJson({ connections });
      printTable(
        ['SERVICE', 'OWNER', 'STATUS', 'KIND', 'LAST USE', 'AGE'],
        connections.map((connection) => [
          connection.service,
          ownerOf(connection),
          stateOf(connection),
          connection.auth.type,
          connection.last_used_at === undefined ? '' : age(connection.last_used_at),
          age(connection.updated_at),
        ]),
      );
    });
}

async function listOfSession({ session = '', ...filter }: Filter, command: Command): Promise<void> {
  if (filter.service !== undefined || filter.endUser !== undefined) {
    throw new Failure('--session takes no other filter', exitCodes.usage);
  }
  const convoke = await connect(command);
  const connections = await convoke.sessions.at(session).connections.list();
  if (globalOptions(command).json) return printJson({ connections });
  printTable(
    ['SERVICE', 'OWNER', 'STATUS', 'REQUIRED'],
    connections.map(({ service, owner, status, status_reason, required }) => [
      service,
      owner === 'tenant' ? '(tenant)' : 'end user',
      [status, status_reason ?? []].flat().join(', '),
      required ? 'yes' : 'no',
    ]),
  );
}

/** A token that ended without a refresh is of no use, though no run has noticed yet. */
function stateOf({ status, status_reason: reason, auth }: ConnectionRecord): string {
  const { expires_at: end, refreshes = false } = auth;
  const hasEnded = !refreshes && end !== undefined && Date.parse(end) <= Date.now();
  if (status === 'connected' && hasEnded) return 'expired, no_refresh';
  return [status, reason ?? []].flat().join(', ');
}

function ownerOf({ end_user }: ConnectionRecord): string {
  return end_user ?? '(tenant)';
}

interface ConnectionOptions {
  readonly endUser?: string;
  readonly header?: string;
  readonly oauth?: true;
}

function setConnection(): Command {
  return new Command('set')
    .description('Connect an account; its secret is read from standard input')
    .addHelpText('after', example('connections set crm --end-user u-17 < token.txt'))
    .argument('<service>', 'the name that agent.yaml has for the service')
    .option('--end-user <name>', 'for this user of your product; else for the tenant')
    .option('--header <name>', 'send the secret as this header instead of a bearer token')
    .option('--oauth', 'standard input has JSON: access_token, refresh_token, token_endpoint, …')
    .action(async (service: string, { endUser, ...given }: ConnectionOptions, command: Command) => {
      if (given.header !== undefined && given.oauth === true) {
        throw new Failure('choose one of --header and --oauth', exitCodes.usage);
      }
      const auth = authIn(given, await text(process.stdin));
      const { connections } = await connect(command);
      const connection = await connections.put(service, { end_user: endUser, auth });
      if (globalOptions(command).json) return printJson(connection);
      print(forOutput(`${connection.service}  ${ownerOf(connection)}  ${connection.status}`));
    });
}

type OAuthMembers = Omit<Extract<PutConnection['auth'], { type: 'oauth' }>, 'type'>;

function authIn({ header, oauth }: ConnectionOptions, input: string): PutConnection['auth'] {
  const secret = input.trim();
  if (secret === '') throw new Failure('standard input has no secret', exitCodes.usage);
  if (oauth !== true) {
    return header === undefined
      ? { type: 'bearer', token: secret }
      : { type: 'header', name: header, value: secret };
  }
  try {
    // The server reports missing fields.
    return { ...(JSON.parse(secret) as OAuthMembers), type: 'oauth' };
  } catch {
    throw new Failure('standard input is not JSON', exitCodes.usage);
  }
}

/** Connected services that an error names. */
const maxNamed = 20;

function nothingConnected(
  service: string,
  endUser: string | undefined,
  all: readonly ConnectionRecord[],
): Failure {
  const names = all.flatMap((one) => (one.end_user === endUser ? [one.service] : []));
  const owner = endUser === undefined ? 'the tenant' : `the end user ${endUser}`;
  const connected = names.length === 0 ? 'nothing' : names.join(', ');
  return new Failure(`${owner} has no account for ${service}; connected: ${connected}`);
}

function deleteConnection(): Command {
  return new Command('delete')
    .description('Revoke a connection: what an agent asks for next no longer gets it')
    .addHelpText('after', example('connections delete github --end-user u-17'))
    .argument('<service>', 'the name that agent.yaml has for the service')
    .option('--end-user <name>', 'of this user of your product; else of the tenant')
    .action(async (service: string, { endUser }: ConnectionOptions, command: Command) => {
      const { connections } = await connect(command);
      await connections.delete(service, { end_user: endUser }).catch(async (error: unknown) => {
        if (!(error instanceof ConvokeError) || error.code !== 'not_found') throw error;
        throw nothingConnected(service, endUser, await collect(connections.list(), maxNamed));
      });
      if (globalOptions(command).json)
        return printJson({ service, end_user: endUser, deleted: true });
      print(forOutput(`${service}  ${endUser ?? '(tenant)'}  deleted`));
    });
}
