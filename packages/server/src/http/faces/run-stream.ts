import type { MayAllow, RunMetadata, VoidText } from '@convoke/faces';
import { mayAllowIn } from '../../app/faces/caller.ts';
import { eventsOfRow, hasNoLog, readVoids } from '../../app/faces/history.ts';
import { logOf } from '../../app/runs/run-log.ts';
import { getRun } from '../../app/runs/runs.ts';
import type { Services } from '../../app/services.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import { type Run, isEnded } from '../../domain/run/run.ts';
import { allowerOf } from '../actor.ts';
import type { RawReply } from '../handler.ts';
import { usageOf } from '../views/runs.ts';
import { type FaceEncoder, type FaceParts, sendFace } from './stream.ts';

/** What encoders of chats know of a run before its first event. */
export interface KnownRun {
  readonly sessionId: string;
  readonly runId: string;
  readonly voids: readonly VoidText[];
  readonly hasEnded: boolean;
  readonly isTruncated: boolean;
  readonly usage: () => RunMetadata['usage'];
  readonly mayAllow: MayAllow;
}

export interface RunStream {
  readonly caller: ApplicationCaller;
  readonly run: Run;
  readonly encoderOf: (known: KnownRun) => FaceEncoder;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a run to a chat, which shows at its end what the run has used. */
export async function sendRun(
  services: Services,
  parts: FaceParts,
  { caller, run, encoderOf, headers }: RunStream,
): Promise<RawReply> {
  const { id: runId, sessionId } = run;
  const isTruncated = await hasNoLog(services, run);
  let newest = run;
  const encoder = encoderOf({
    sessionId,
    runId,
    voids: await readVoids(services, run),
    hasEnded: isEnded(run),
    isTruncated,
    usage: () => usageOf(newest),
    mayAllow: mayAllowIn(run, allowerOf(caller)),
  });
  return sendFace(parts, {
    caller,
    run: logOf(run),
    encoder,
    atEnd: {
      read: () => getRun(services, caller.scope, { sessionId, runId }),
      take: (ended) => (newest = ended),
    },
    instead: isTruncated ? eventsOfRow(run) : undefined,
    headers: { ...headers, 'x-session-id': sessionId, 'x-run-id': runId },
  });
}
