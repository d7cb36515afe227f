import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { openAgents } from '../../agents/registry.ts';
import { builtHarnesses } from '../../compose/services.ts';
import type { Config } from '../../config/config.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openSandbox } from '../../sandbox/sandbox.ts';
import { oldestSafeVersion } from '../../store/dialects/sqlite-connection.ts';
import { createLog } from '../../telemetry/log.ts';
import { examineBackground } from './background.ts';
import { examineBlobs } from './blobs.ts';
import { examineDataFolder, examineMasterKey } from './data-folder.ts';
import { examineDatabase } from './database.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';
import { satisfies } from './node-version.ts';
import { examineServer } from './server.ts';

/** Checks everything that a server with these settings needs. Changes nothing, so it may run beside a server. */
export async function examine(config: Config): Promise<readonly Finding[]> {
  return [
    examineNode(),
    examineSqlite(),
    await examineDataFolder(config.dataDir),
    await examineMasterKey(config.cluster.masterKeyFile),
    await examineDatabase(config),
    ...(await examineBlobs(config)),
    ...(await examineHarness(config)),
    ...(await examineServer(config)),
    ...(await examineBackground(config)),
  ];
}

function examineNode(): Finding {
  const { node } = process.versions;
  const range = manifest.engines.node;
  if (satisfies(node, range)) return fine('node', `Node ${node}`);
  return failed('node', `Node ${node} is not supported`, `install Node ${range}`);
}

function examineSqlite(): Finding {
  const version = process.versions['sqlite'] ?? '0';
  const oldest = oldestSafeVersion.join('.');
  if (satisfies(version, `>=${oldest}`)) return fine('sqlite', `SQLite ${version}`);
  return failed('sqlite', `SQLite ${version} is older than ${oldest}`, 'install a newer Node');
}

/** Uses a temporary folder: the sandbox of a running server keeps its files in the data folder. */
async function examineHarness(config: Config): Promise<readonly Finding[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'convoke-doctor-'));
  const log = createLog({ level: 'silent' });
  const parts = { clock: systemClock, log, a2aAllow: config.a2aAllow };
  try {
    const sandbox = await openSandbox({ ...parts, mode: config.sandbox, dataDir });
    try {
      const agents = await examineAgents(config, { ...parts, a2aAllow: config.a2aAllow, sandbox });
      return [agents, await examineSandbox(sandbox)];
    } finally {
      await sandbox.close();
    }
  } catch (error) {
    return [
      failed('sandbox', messageOf(error), 'install the programs it names, or set CONVOKE_SANDBOX'),
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

type HarnessParts = Parameters<typeof builtHarnesses>[0];

async function examineAgents({ agentsDir }: Config, parts: HarnessParts): Promise<Finding> {
  const harnesses = new Map(builtHarnesses(parts).map((built) => [built.framework, built]));
  const agents = await openAgents({
    folder: agentsDir,
    harnesses,
    log: parts.log,
    watch: false,
  });
  const problems = agents.problems().map(({ folder, reason }) => `${folder}: ${reason}`);
  const names = agents.all().map((agent) => agent.name);
  await agents.close();
  if (problems.length > 0) {
    return failed('agents', problems.join('; '), `correct the files in ${agentsDir}`);
  }
  if (names.length === 0) {
    return warned(
      'agents',
      'no agents found',
      `add one as ${join(agentsDir, '<name>/agent.yaml')}`,
    );
  }
  return fine('agents', names.join(', '));
}

async function examineSandbox(sandbox: Sandbox): Promise<Finding> {
  const { level, systemCalls, network, limits, problems } = await sandbox.describe();
  const files = level === 'bwrap' ? ', no file of the server open' : '';
  const text = `programs run in ${level}, system calls ${systemCalls}${files}, network ${network}, limits by ${limits}`;
  if (problems.length === 0) return fine('sandbox', text);
  return warned('sandbox', text, problems.join('; '));
}
