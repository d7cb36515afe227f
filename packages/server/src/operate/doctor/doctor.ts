import { join } from 'node:path';
import { isInRange } from '@convoke/agent/version-range';
import manifest from '../../../package.json' with { type: 'json' };
import { readPrices } from '../../agents/prices-file.ts';
import { openAgents } from '../../agents/registry.ts';
import { describeFrameworks } from '../../compose/frameworks.ts';
import type { Config } from '../../config/config.ts';
import { noPrices } from '../../domain/usage/prices.ts';
import { oldestSafeVersion } from '../../store/dialects/sqlite-connection.ts';
import { type OpenHarnesses, withHarnesses } from '../with-harnesses.ts';
import { examineBackground } from './background.ts';
import { examineBlobs } from './blobs.ts';
import { examineDataFolder, examineMasterKey } from './data-folder.ts';
import { examineDatabase } from './database.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';
import { sandboxFinding } from './sandbox.ts';
import { examineServer } from './server.ts';
import { examineWaits } from './waits.ts';

/** Checks everything that a server with these settings needs. Changes nothing, so it may run beside a server. */
export async function examine(config: Config): Promise<readonly Finding[]> {
  return [
    examineNode(),
    examineSqlite(),
    await examineDataFolder(config.dataDir),
    await examineMasterKey(config.cluster.masterKeyFile),
    await examineDatabase(config),
    ...(await examineWaits(config)),
    ...(await examineBlobs(config)),
    ...(await examinePrices(config)),
    ...(await examineHarness(config)),
    ...(await examineServer(config)),
    ...(await examineBackground(config)),
  ];
}

function examineNode(): Finding {
  const { node } = process.versions;
  const range = manifest.engines.node;
  if (isInRange(node, range)) return fine('node', `Node ${node}`);
  return failed('node', `Node ${node} is not supported`, `install Node ${range}`);
}

function examineSqlite(): Finding {
  const version = process.versions['sqlite'] ?? '0';
  const oldest = oldestSafeVersion.join('.');
  if (isInRange(version, `>=${oldest}`)) return fine('sqlite', `SQLite ${version}`);
  return failed('sqlite', `SQLite ${version} is older than ${oldest}`, 'install a newer Node');
}

async function examineHarness(config: Config): Promise<readonly Finding[]> {
  try {
    return await withHarnesses(config, async (parts) => [
      await examineAgents(config, parts),
      await examineFrameworks(parts),
      sandboxFinding(await parts.sandbox.describe()),
    ]);
  } catch (error) {
    return [
      failed('sandbox', messageOf(error), 'install the programs it names, or set CONVOKE_SANDBOX'),
    ];
  }
}

async function readAgents({ agentsDir, pricesFile }: Config, { harnesses, log }: OpenHarnesses) {
  const agents = await openAgents({
    folder: agentsDir,
    harnesses,
    log,
    // A wrong file is a finding of its own.
    prices: await readPrices(pricesFile).catch(() => noPrices),
    watch: false,
  });
  const problems = agents.problems();
  const names = agents.all().map((agent) => agent.name);
  await agents.close();
  return { problems, names };
}

async function examineAgents(config: Config, parts: OpenHarnesses): Promise<Finding> {
  const { agentsDir } = config;
  const { problems, names } = await readAgents(config, parts);
  if (problems.length > 0) {
    const texts = problems.map(({ folder, reason }) => `${folder}: ${reason}`);
    return failed('agents', texts.join('; '), `correct the files in ${agentsDir}`);
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

async function examinePrices({ pricesFile }: Config): Promise<readonly Finding[]> {
  if (pricesFile === undefined) return [];
  try {
    const { currency, unpriced, models } = await readPrices(pricesFile);
    const rest = unpriced === 'allow' ? 'allowed' : 'refused';
    const text = `${models.length} models in ${currency}; others are ${rest} under a cost ceiling`;
    return [fine('prices', text)];
  } catch (error) {
    return [failed('prices', messageOf(error), 'correct the file: the server does not start')];
  }
}

/** A framework that is not ready is no fault: many deployments use one or two of them. */
async function examineFrameworks(parts: OpenHarnesses): Promise<Finding> {
  const all = await describeFrameworks(parts);
  const ready = all.filter((framework) => framework.ready).map(({ name }) => name);
  const others = all.filter((framework) => !framework.ready);
  const reasons = others.map(({ name, reason = '' }) => `${name} is not ready: ${reason}`);
  return fine('frameworks', [`${ready.join(', ')} are ready`, ...reasons].join('; '));
}
