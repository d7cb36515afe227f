import type { RunRecord, SessionHandle } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { addressOf } from '../data/routes.ts';
import { RunStore } from '../data/run-store.ts';
import { Composer } from '../parts/composer.tsx';
import { Conversation } from '../parts/conversation.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { useRight, useTenant } from '../session/use.ts';

/** Starts runs in a session and shows them as one conversation, with approvals in place. */
export function SessionTalk(props: {
  /** Creates the session with the first message where there is none yet. */
  readonly session: () => Promise<SessionHandle>;
  readonly earlier: readonly RunRecord[];
  readonly takesFiles: boolean;
  readonly blocked?: string | undefined;
  readonly onStarted?: ((run: RunRecord) => void) | undefined;
}): JSX.Element {
  const [started, setStarted] = useState<readonly RunRecord[]>([]);
  const mayWrite = useRight('runs:write');
  const known = new Set(started.map(({ id }) => id));
  const runs = [...props.earlier.filter(({ id }) => !known.has(id)), ...started];
  const [current, setCurrent] = useState<RunStore | undefined>(undefined);
  const isRunning = current !== undefined && !isOver(current.record.value);
  const send = async (prompt: string, files: readonly File[]) => {
    const session = await props.session();
    const ids: string[] = [];
    for (const file of files) ids.push((await session.files.upload(file)).id);
    const run = await session.run(prompt, ids.length === 0 ? {} : { files: ids });
    setStarted((before) => [...before, run.record]);
    props.onStarted?.(run.record);
  };
  const readOnly = mayWrite ? undefined : 'Read-only access';
  return (
    <div class="talk-pane">
      {runs.length > 0 && (
        <div class="conversation" role="log" aria-live="off" aria-label="Conversation">
          {runs.map((run, index) => (
            <OneTalk
              key={run.id}
              first={run}
              onOpen={index === runs.length - 1 ? setCurrent : undefined}
            />
          ))}
        </div>
      )}
      <Composer
        onSend={send}
        onStop={() => current?.cancel()}
        isRunning={isRunning}
        takesFiles={props.takesFiles}
        blocked={readOnly ?? props.blocked}
      />
    </div>
  );
}

function isOver({ status }: RunRecord): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

function OneTalk(props: {
  readonly first: RunRecord;
  readonly onOpen: ((store: RunStore) => void) | undefined;
}): JSX.Element {
  const { client, tenantId } = useTenant();
  const store = useMemo(() => new RunStore(client, props.first), [props.first.id]);
  useEffect(() => store.open(), [store]);
  useEffect(() => props.onOpen?.(store), [store, props.onOpen === undefined]);
  const { items, hasEnded } = store.view.value;
  const run = store.record.value;
  return (
    <>
      <Conversation run={run} items={items} hasEnded={hasEnded} />
      {store.error.value !== undefined && <ProblemNote error={store.error.value} />}
      <p class="divider">
        <Status of={run.status} />
        <a href={addressOf('run', { tenant: tenantId, run: run.id })}>View run</a>
      </p>
    </>
  );
}
