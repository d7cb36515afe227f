import { Command } from 'commander';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { logInByDevice, revoke } from '../../sign-in/device-flow.ts';
import { readQuickstart } from '../../sign-in/quickstart.ts';
import { type Login, changeSaved } from '../../sign-in/saved-logins.ts';
import { defaultAddress, readAddress } from '../../sign-in/server-address.ts';
import { printJson, remark, styled } from '../../terminal/output.ts';
import { armSpinner } from '../../terminal/spinner.ts';

export function loginCommand(): Command {
  return new Command('login')
    .description('Log in as a person to manage clients and tenants')
    .option('--server <address>', 'address of the server')
    .addHelpText('after', example('login --server https://convoke.example'))
    .action(async ({ server }: { server?: string }, command: Command) => {
      const folder = await readQuickstart();
      const baseUrl = server ?? readAddress() ?? folder?.base_url ?? defaultAddress;
      const login = await logInByDevice(baseUrl.replace(/\/+$/, ''), (code) => {
        remark(`Open ${code.verification_uri_complete ?? code.verification_uri}`);
        remark(`and confirm the code ${styled('bold', code.user_code, process.stderr)}`);
        armSpinner('waiting for your confirmation');
      });
      await changeSaved((saved) => ({ ...saved, login }));
      if (globalOptions(command).json) return printJson({ base_url: login.baseUrl });
      remark('Logged in. Next: convoke clients create --name me --save');
    });
}

export function logoutCommand(): Command {
  return new Command('logout')
    .description('Log out on this machine and revoke the login on the server')
    .addHelpText('after', example('logout'))
    .action(async (_options: unknown, command: Command) => {
      let login: Login | undefined;
      await changeSaved((saved) => {
        login = saved.login;
        return login === undefined ? saved : { ...saved, login: undefined };
      });
      if (login === undefined) return remark('Not logged in.');
      await revoke(login).catch(() =>
        remark('The server could not be reached; the login there will expire on its own.'),
      );
      if (globalOptions(command).json) return printJson({ base_url: login.baseUrl });
      remark('Logged out.');
    });
}
