import { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import type { MachineCredentials } from '../sign-in/machine-credentials.ts';
import { type Saved, changeSaved, readSaved } from '../sign-in/saved-logins.ts';
import { print, printJson, printTable } from '../terminal/output.ts';

export function useCommand(): Command {
  return new Command('use')
    .description('Select the saved login and the tenant to use')
    .argument('[name]', 'a saved login, made by `convoke clients create --save`')
    .option('--tenant <id>', 'use this tenant from now on')
    .addHelpText('after', example('use default --tenant ten_…'))
    .action(async (name: string | undefined, { tenant }: { tenant?: string }, command: Command) => {
      const { json = false } = globalOptions(command);
      if (name === undefined && tenant === undefined) return list(await readSaved(), json);
      const saved = await changeSaved((before) => choosing(before, { name, tenant }));
      if (json) return printJson(allShown(saved).find(({ current }) => current));
      print(`using "${saved.current}"`);
    });
}

interface Choice {
  readonly name: string | undefined;
  readonly tenant: string | undefined;
}

function choosing(saved: Saved, { name, tenant }: Choice): Saved {
  const chosen = name ?? saved.current;
  const known = chosen === undefined ? undefined : saved.profiles[chosen];
  if (chosen === undefined || known === undefined) {
    const which = chosen === undefined ? 'no login is saved' : `no saved login "${chosen}"`;
    throw new Failure(`${which}: \`convoke use\` lists the saved logins`, exitCodes.usage);
  }
  const login = tenant === undefined ? known : { ...known, tenantId: tenant };
  return { ...saved, current: chosen, profiles: { ...saved.profiles, [chosen]: login } };
}

function allShown({ profiles, current }: Saved) {
  return Object.entries(profiles).map(([name, known]) => shown(name, known, current));
}

function list(saved: Saved, json: boolean): void {
  const all = allShown(saved);
  if (json) return printJson({ profiles: all });
  printTable(
    ['LOGIN', 'CURRENT', 'SERVER', 'TENANT'],
    all.map((item) => [
      item.profile,
      item.current ? 'yes' : '',
      item.base_url,
      item.tenant_id ?? '',
    ]),
  );
}

/** Without the secret. */
function shown(name: string, known: MachineCredentials, current: string | undefined) {
  return {
    profile: name,
    current: name === current,
    base_url: known.baseUrl,
    client_id: known.clientId,
    tenant_id: known.tenantId ?? null,
  };
}
