import { Command } from 'commander';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { findClientLogin } from '../../sign-in/client-login.ts';
import { type SavedLogins, changeSaved, readSaved } from '../../sign-in/saved-logins.ts';
import { print, printJson, remark } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';

export function loginsCommand(): Command {
  return new Command('logins')
    .description('List, select and remove saved logins of automation clients')
    .addCommand(listLogins(), { isDefault: true })
    .addCommand(useLogin())
    .addCommand(removeLogin())
    .addHelpText('after', example('logins use backend'))
    .addHelpText(
      'after',
      '\nThe nearest login wins: --client, the environment (CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET), the development\n' +
        'server of this folder (.convoke), then the saved login in use. CONVOKE_BASE_URL alone selects the server and the\n' +
        'login that is saved for it. `convoke whoami` shows what is used here.\n',
    );
}

function listLogins(): Command {
  return new Command('list')
    .description('List the saved logins, without their secrets')
    .addHelpText('after', example('logins'))
    .action(async (_options: unknown, command: Command) => {
      const logins = shownLogins(await readSaved());
      if (globalOptions(command).json) return printJson({ logins });
      printTable(
        ['LOGIN', 'IN USE', 'SERVER', 'TENANT', 'CLIENT ID'],
        logins.map((item) => [
          item.name,
          item.current ? 'yes' : '',
          item.base_url,
          item.tenant_id ?? '',
          item.client_id,
        ]),
      );
      const used = await findClientLogin().catch(() => undefined);
      if (used !== undefined) remark(`used here: ${used.login}, ${used.credentials.baseUrl}`);
    });
}

function useLogin(): Command {
  return new Command('use')
    .description('Select the saved login, and the tenant, to use from now on')
    .argument('[login]', 'name of a saved login; default: the one in use')
    .option('--tenant <id>', 'use this tenant from now on')
    .addHelpText('after', example('logins use backend --tenant ten_…'))
    .action(async (name: string | undefined, { tenant }: { tenant?: string }, command: Command) => {
      const saved = await changeSaved((before) => choosing(before, { name, tenant }));
      if (globalOptions(command).json) {
        return printJson(shownLogins(saved).find(({ current }) => current));
      }
      print(`using "${saved.current}"`);
      await warnOfNearer(saved.current ?? '');
    });
}

/** Says if another login comes first in this folder, because the selection seems to have no effect here. */
async function warnOfNearer(chosen: string): Promise<void> {
  const used = await findClientLogin().catch(() => undefined);
  if (used === undefined || used.login === `saved login "${chosen}"`) return;
  remark(
    `${used.login} (${used.credentials.baseUrl}) takes precedence here; use --client ${chosen} to override it`,
  );
}

function removeLogin(): Command {
  return new Command('remove')
    .description('Remove a saved login from this machine; the client itself is not deleted')
    .argument('<login>', 'name of the saved login')
    .addHelpText('after', example('logins remove backend'))
    .action(async (name: string, _options: unknown, command: Command) => {
      await changeSaved((saved) => {
        requireLogin(saved, name);
        const { [name]: _removed, ...profiles } = saved.profiles;
        return {
          ...saved,
          profiles,
          current: saved.current === name ? undefined : saved.current,
        };
      });
      if (globalOptions(command).json) return printJson({ name, removed: true });
      print(`"${name}" removed; \`convoke clients\` lists the clients at the server`);
    });
}

interface Choice {
  readonly name: string | undefined;
  readonly tenant: string | undefined;
}

function choosing(saved: SavedLogins, { name, tenant }: Choice): SavedLogins {
  const chosen = name ?? saved.current;
  if (chosen === undefined || (name === undefined && tenant === undefined)) {
    throw new Failure('specify a login or a tenant; `convoke logins` lists them', exitCodes.usage);
  }
  const known = requireLogin(saved, chosen);
  const login = tenant === undefined ? known : { ...known, tenantId: tenant };
  return { ...saved, current: chosen, profiles: { ...saved.profiles, [chosen]: login } };
}

function requireLogin(saved: SavedLogins, name: string) {
  const known = saved.profiles[name];
  if (known !== undefined) return known;
  throw new Failure(`no saved login "${name}": \`convoke logins\` lists them`, exitCodes.usage);
}

/** Without the secrets. */
function shownLogins({ profiles, current }: SavedLogins) {
  return Object.entries(profiles).map(([name, known]) => ({
    name,
    current: name === current,
    base_url: known.baseUrl,
    client_id: known.clientId,
    tenant_id: known.tenantId ?? null,
  }));
}
