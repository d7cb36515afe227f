import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk';
import type { RunHandle, SessionHandle } from '@convoke/sdk';
import { RunTranscript, type TranscriptItem } from '@convoke/faces';
import { Dialogs } from './dialogs.ts';
import { updatesOf } from './updates.ts';

/** The part of a connection that shows runs. */
export interface Viewer {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Where a person sees a run in the console. */
  readonly linkTo: (runId: string) => Promise<string>;
  /** Aborted when the editor is gone. The run continues. */
  readonly signal: AbortSignal;
  /** Whether the editor has cancelled the transcript. */
  readonly isCancelled: () => boolean;
}

export type Ending = Extract<TranscriptItem, { kind: 'end' }>;

interface ShownRun {
  readonly session: SessionHandle;
  readonly run: RunHandle;
  /** The last event that the editor knows already; empty if it knows none. */
  readonly after: string;
  /** The request that was answered just now. */
  readonly answered?: string;
}

/** Streams a run to the editor until it ends. Returns undefined when it is left, because it waits for a person. */
export async function showRun(
  viewer: Viewer,
  { session, run, after, answered }: ShownRun,
): Promise<Ending | undefined> {
  const { client } = viewer;
  const leaving = new AbortController();
  const signal = AbortSignal.any([viewer.signal, leaving.signal]);
  const transcript = new RunTranscript();
  const dialogs = new Dialogs({
    ...viewer,
    session,
    runId: run.id,
    link: () => viewer.linkTo(run.id),
    leave: () => leaving.abort(left),
    fail: (error) => leaving.abort(error),
  });
  let ending: Ending | undefined;
  try {
    for await (const event of run.follow({ signal })) {
      for (const item of transcript.take(event)) {
        if (item.kind === 'end') ending = item;
        if (item.kind === 'settled') dialogs.withdraw(item.key);
        // Ids have a fixed width, so they compare as text.
        if (event.id <= after) continue;
        for (const update of updatesOf(item, run.id)) {
          await client.notify('session/update', { sessionId: session.id, update });
        }
        if (item.kind === 'ask') dialogs.show(item);
      }
      if (event.id !== after) continue;
      for (const ask of transcript.waiting) if (ask.key !== answered) dialogs.show(ask);
    }
  } catch (error) {
    if (leaving.signal.reason !== left) throw leaving.signal.reason ?? error;
  } finally {
    dialogs.close();
  }
  return ending;
}

/** Marks that a run was left on purpose. */
const left = Symbol('left');
