import { fileKey, snapshotKey } from '../app/files/blob-keys.ts';
import { type CutDelta, joined, readCutDeltas } from '../app/runs/output-text.ts';
import { type Agent, isEnabledFor } from '../domain/agent.ts';
import { type ContextTexts, type KnownContext, contextEvents } from '../domain/context.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { acceptedPrompt, promptOf } from '../domain/run/run-input.ts';
import type { Run, RunOutcome } from '../domain/run/run.ts';
import type { CalledAgent, Harness, LegContext, LegInput } from '../ports/harness.ts';
import type { PrepareFolder, AttachedFile } from '../ports/session-folders.ts';
import { askForAccounts } from './ask-for-accounts.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import type { LegItem } from './recording/raise-interactions.ts';
import { openConnections } from './leg-connections.ts';
import { retryStorage } from '../runtime/retry-storage.ts';
import type { ExecutionServices } from './services.ts';

const filesPlacedMax = 1000;
const fetchMaxMs = 5_000;
const noTexts: ContextTexts = { files: [], skills: [] };

export type LegStart =
  | {
      readonly ready: true;
      readonly harness: Harness;
      readonly input: LegInput;
      readonly context: Omit<LegContext, 'signal' | 'holdsLease' | 'effects'>;
      /** Text of the previous leg after its recovery point, if this leg repeats it. */
      readonly repeated: readonly CutDelta[];
    }
  | {
      readonly ready: false;
      readonly outcome: RunOutcome | { readonly status: 'workspace_lost' | 'waiting' };
      /** What the service asks in place of the leg, which then waits. */
      readonly asks?: readonly LegItem[];
    };

/** Prepares the session folder, and announces the context files and skills that the agent will see in it. */
export async function prepareLeg(
  services: ExecutionServices,
  { claimed, agent, writer }: { claimed: ClaimedLeg; agent: Agent; writer: LegWriter },
): Promise<LegStart> {
  const { run, session, state, input: legInput } = claimed;
  const harness = services.harnesses.get(agent.framework);
  if (harness === undefined) {
    return failure('agent_error', `This server has no harness for ${agent.framework}.`);
  }
  const accounts = await openConnections(services, { agent, session });
  if (!accounts.ok) {
    const asked = await askForAccounts(services, claimed, accounts.missing);
    return 'asks' in asked
      ? { ready: false, outcome: { status: 'waiting' }, asks: asked.asks }
      : failure('connection_missing', asked.refusal);
  }
  const isFirstLeg = legInput.kind === 'prompt';
  const cut = await cutDeltas(services, claimed);
  const request: PrepareFolder = {
    tenantId: run.tenantId,
    sessionId: run.sessionId,
    agent,
    expected: state.context !== null,
    saved: {
      state: state.snapshot,
      open: async () => {
        const key = snapshotKey(run, state.snapshot);
        return key === undefined ? undefined : services.blobs.read(key);
      },
    },
    mustRestore: claimed.isElsewhere,
    files: session.filesSupported ? await readyFiles(services, claimed) : [],
  };
  const prepared = await preparedFolder(services, request, run);
  if (prepared === undefined) {
    return failure('sandbox_unavailable', 'The session folder could not be prepared.');
  }
  if (!prepared.found) return { ready: false, outcome: { status: 'workspace_lost' } };
  const known = parse<KnownContext>(state.context) ?? {};
  const announced = contextEvents(prepared, { known, isFirstLeg });
  const context = JSON.stringify(announced.known);
  // Recorded even when empty: it also says that the session's folder was made.
  if (context !== state.context) writer.context({ text: context, snapshot: prepared.startsAs });
  for (const event of [...accounts.used, ...announced.events]) await writer.push(event);
  const input = parse<JsonObject>(run.input) ?? {};
  return {
    ready: true,
    harness,
    input: legInput,
    context: {
      runId: run.id,
      sessionId: run.sessionId,
      agent,
      called: calledBy(services, agent, run),
      settings: agent.settings,
      connections: accounts.connections,
      runNumber: run.number,
      // Not checked again: agent and settings may have changed since, but an accepted prompt is the one that runs.
      prompt: harness.readsWords === true ? promptOf(input) : acceptedPrompt(input),
      input,
      sessionFolder: prepared.sessionFolder,
      stateDir: prepared.stateDir,
      texts: harness.usesContextTexts === true ? prepared.texts : noTexts,
      state: parse<Json>(state.checkpoint),
      cut: harness.keepsCutText === true ? joined(cut) : '',
      callbacks: () => services.callbacks.ofRun(run.id),
    },
    repeated: repeatsCutText(harness, legInput) ? cut : [],
  };
}

/** Text of the previous leg after its recovery point, if this one continues from there. */
async function cutDeltas(
  { store }: ExecutionServices,
  { run, input, state: { point } }: ClaimedLeg,
): Promise<readonly CutDelta[]> {
  if (input.kind !== 'continue') return [];
  return (await readCutDeltas(store, run, point?.runId === run.id ? point.seq : 0)) ?? [];
}

/** An agent that does not exist, or that the tenant does not have, is not offered. */
function calledBy(
  { agents }: Pick<ExecutionServices, 'agents'>,
  { calls }: Agent,
  { tenantId }: Pick<Run, 'tenantId'>,
): readonly CalledAgent[] | undefined {
  return calls?.flatMap((name) => {
    const called = agents.find(name);
    return called !== undefined && isEnabledFor(called, tenantId) ? [called] : [];
  });
}

/** A leg after an answer starts where the previous leg ended; agents with their own record, where that one was cut. */
function repeatsCutText({ keepsCutText, afterLoss }: Harness, input: LegInput): boolean {
  if (input.kind !== 'continue' || input.reason === 'answered') return false;
  return keepsCutText !== true && afterLoss !== 'continue';
}

async function readyFiles(
  services: ExecutionServices,
  { run }: ClaimedLeg,
): Promise<AttachedFile[]> {
  const files = await services.store.read.files.ready(run.sessionId, filesPlacedMax);
  return files.map((file) => ({
    id: file.id,
    name: file.name,
    sha256: file.sha256,
    open: () => services.blobs.read(fileKey(file, file.sha256)),
  }));
}

/** For JSON that the server itself wrote. */
function parse<T>(text: string | null): T | undefined {
  return text === null ? undefined : (JSON.parse(text) as T);
}

function failure(
  code: 'agent_error' | 'sandbox_unavailable' | 'connection_missing',
  message: string,
): LegStart {
  return { ready: false, outcome: { status: 'failed', code, message } };
}

/** The snapshot of the folder may be in a store that is briefly unavailable. */
async function preparedFolder(
  services: ExecutionServices,
  request: PrepareFolder,
  { id: run_id }: Pick<ClaimedLeg['run'], 'id'>,
) {
  const until = services.clock.now() + fetchMaxMs;
  const policy = { clock: services.clock, shouldRetry: () => services.clock.now() < until };
  return retryStorage(policy, () => services.sessionFolders.prepare(request)).catch(
    (error: unknown) => {
      services.log.error('session folder could not be prepared', error, { run_id });
      return undefined;
    },
  );
}
