import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { printable } from '@convoke/faces/printable';
import type { Config, RunningServer } from '@convoke/server';
import { Command } from 'commander';
import { report } from '../../operating.ts';
import { example } from '../../options/options.ts';
import { settingsHelp } from '../../options/settings-help.ts';
import { loadServer } from '../../server.ts';
import { remark } from '../../terminal/output.ts';
import { ensureAgents } from './starter-agent.ts';
import { suggestions } from './suggestions.ts';
import { untilStopped } from './until-stopped.ts';

export function devCommand(): Command {
  return new Command('dev')
    .description('Run a development server with an organization, a client and demo agents')
    .addHelpText('after', settingsHelp)
    .addHelpText('after', example('dev'))
    .action(async (_options: unknown, command: Command) => {
      const { readConfig, runServer } = await loadServer();
      const config = withLocalWebhooks(readConfig(process.env));
      await ensureAgents(config.agentsDir);
      const server = await runServer(config, { quickstart: true, showOutput });
      const { convoke, listensOn } = server;
      const facts = {
        base_url: convoke.baseUrl,
        listens_on: listensOn,
        data_dir: config.dataDir,
      };
      report(
        command,
        facts,
        welcome(server, config, [
          ...(await consoleLines(server, config)),
          ...(await signInHint(server, config)),
        ]),
      );
      await untilStopped(server);
    });
}

/** The output of an agent's program is for its author, who watches this terminal. */
function showOutput(agent: string, line: string): void {
  remark(printable(`${agent} | ${line}`), 'dim');
}

/** Lets webhooks lead to this machine, unless the setting says where they may lead or others reach the server. */
function withLocalWebhooks(config: Config): Config {
  const isLocal = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(config.host);
  if (!isLocal || process.env['CONVOKE_WEBHOOK_ALLOW'] !== undefined) return config;
  return { ...config, webhookAllow: ['127.0.0.0/8', '::1/128'] };
}

/** The link that opens the console on this machine, and how to get another. */
async function consoleLines(
  { convoke, quickstart }: RunningServer,
  config: Config,
): Promise<readonly string[]> {
  const link = quickstart === undefined ? undefined : await convoke.consoleLink();
  if (link === undefined) return [];
  const folder = relative(process.cwd(), config.dataDir) || '.';
  return [
    `Console: ${link}`,
    `  (single use, valid for ten minutes on this machine; for another: ${elsewhere(folder, config)}npx convoke console)`,
  ];
}

/** Says how the owner of the quickstart signs in. The start makes no password: `quickstart.json` has a token. */
async function signInHint(
  { convoke, quickstart }: RunningServer,
  config: Config,
): Promise<readonly string[]> {
  if (quickstart === undefined || config.peopleIssuer !== undefined) return [];
  const { organizations, passwords } = convoke.services.store.read;
  const { owner_email: email } = quickstart;
  const owner = await organizations.findUserByEmail(email);
  if (owner !== undefined && (await passwords.find(owner.id)) !== undefined) {
    return [`Sign in as ${email}: npx convoke login, or ${convoke.baseUrl}/oidc/account`];
  }
  const folder = relative(process.cwd(), config.dataDir) || '.';
  const command = `npx convoke admin member password --email ${email}`;
  return [`Password of ${email}: ${elsewhere(folder, config)}${command}`];
}

function welcome(
  { convoke, listensOn }: RunningServer,
  config: Config,
  signIn: readonly string[],
): string {
  const names = convoke.services.agents.all().map((agent) => agent.name);
  const folder = relative(process.cwd(), config.dataDir) || '.';
  const broken = convoke.agentProblems.map(
    ({ folder: at, reason }) => `  not loaded: ${at}: ${reason}`,
  );
  const agentsFolder = relative(process.cwd(), config.agentsDir);
  const { baseUrl } = convoke;
  const where =
    baseUrl === `http://${listensOn}` ? baseUrl : `${listensOn}, clients use ${baseUrl}`;
  return [
    '',
    `Convoke listens on ${where}, process ${process.pid}   (API: ${baseUrl}/docs)`,
    `Agents: ${names.join(', ') || `none yet; add one as ${agentsFolder}/<name>/agent.yaml`}`,
    ...broken,
    `Credentials: ${folder}/quickstart.json`,
    ...signIn,
    '',
    'Try it, in another terminal:',
    ...suggestions(convoke.services.agents.all(), existsSync('examples/tour.mjs')).map(
      (line) => `  ${elsewhere(folder, config)}${line}`,
    ),
    '',
    'Stop with Ctrl-C. Runs, questions and approvals survive a restart.',
    '',
  ].join('\n');
}

function elsewhere(folder: string, { dataDir }: Config): string {
  return folder === '.convoke' ? '' : `CONVOKE_DATA_DIR=${dataDir} `;
}
