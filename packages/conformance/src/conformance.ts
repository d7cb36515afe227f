import { Caller, type Surroundings, type Workspace, workspacesOf } from './caller.ts';
import { checks, checksOverRestart, checksOverTime } from './checks/all.ts';
import { Failure } from './failure.ts';
import { Kit } from './kit.ts';
import type { Options } from './options.ts';
import { Owner } from './owner.ts';
import { isOfConvoke, requirements } from './requirements/requirements.ts';
import type { Requirement } from './requirements/requirement.ts';
import { type Results, resultsOf } from './results.ts';
import { runPlan } from './runner.ts';
import type { Secrets } from './secrets.ts';
import { Server, hasStatus } from './server.ts';
import { TimeLimits } from './time-limits.ts';

/** There is no service to check, or no way into it: exit status 2. */
export class NoService extends Error {}

/** Connects, runs every selected check, and removes the resources of the kit. */
export async function runConformance(options: Options, secrets: Secrets): Promise<Results> {
  const over = new AbortController();
  const server = new Server(options.baseUrl, over.signal);
  const around = { server, dialect: options.dialect, secrets };
  const kit = await connect(options, around);
  const wanted = requirements.filter((each) => isWanted(options, each));
  const ids = new Set(wanted.filter(({ visible }) => visible !== 'no').map(({ id }) => id));
  try {
    const results = await runPlan(kit, {
      checks: checks.filter(({ id }) => ids.has(id)),
      overTime: checksOverTime.filter(({ id }) => ids.has(id)),
      overRestart: checksOverRestart.filter(({ id }) => ids.has(id)),
      restart: options.restart,
      limits: new TimeLimits(server.waits, options.timeLimitMs),
    });
    return resultsOf(wanted, results, options.expectedFailures);
  } finally {
    await kit.cleanUp();
    over.abort();
  }
}

function isWanted({ level, only }: Options, requirement: Requirement): boolean {
  if (isOfConvoke(requirement) && level !== 'convoke') return false;
  return only.length === 0 || only.some((part) => requirement.id.startsWith(part));
}

async function connect(options: Options, around: Surroundings): Promise<Kit> {
  const { credentials, ownerToken, agentNames } = options;
  const { secrets } = around;
  for (const secret of Object.values(credentials)) secrets.add(secret);
  if (ownerToken !== undefined) secrets.add(ownerToken);
  try {
    const workspace = await findWorkspace(options, around);
    const app = new Caller(around, credentials, workspace);
    await app.token();
    const owner =
      ownerToken === undefined
        ? undefined
        : new Owner(around, ownerToken, workspace.organizationId);
    return new Kit({ ...around, app, credentials, owner, agentNames });
  } catch (error) {
    if (error instanceof Failure) throw new NoService(error.message);
    throw error;
  }
}

async function findWorkspace(options: Options, around: Surroundings): Promise<Workspace> {
  const { organizationId, tenantId, credentials, dialect } = options;
  if (organizationId !== undefined && tenantId !== undefined) return { organizationId, tenantId };
  const nowhere = { organizationId: '', tenantId: '' };
  const token = await new Caller(around, credentials, nowhere).token();
  const headers = { authorization: `Bearer ${token}` };
  const reply = await around.server.send({ method: 'GET', path: '/v1/me/workspaces', headers });
  const found = workspacesOf(hasStatus(reply, 200).body, dialect).find(
    (each) =>
      (organizationId ?? each.organizationId) === each.organizationId &&
      (tenantId ?? each.tenantId) === each.tenantId,
  );
  if (found === undefined) throw new NoService('the client reaches no such workspace');
  return found;
}
