import type { JsonObject, RunRecord, SessionHandle } from '@convoke/sdk';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { short } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { takesMore } from '../data/input/schema-fields.ts';
import { hasEnded } from '../data/run-rows.ts';
import { RunStore } from '../data/run-store.ts';
import { money } from '../data/usage.ts';
import { Composer, type ComposerProps } from '../parts/composer.tsx';
import { Conversation } from '../parts/conversation.tsx';
import { FollowedLog } from '../parts/followed-log.tsx';
import { InputForm } from '../parts/input/input-form.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { useStopRun } from '../parts/stop-run.tsx';
import { useAnswering } from '../parts/answering.tsx';
import { WaitLines, isParkedNow } from '../parts/waits.tsx';
import { Took } from '../parts/time.tsx';
import { useRight, useTenant } from '../session/use.ts';

/**
 * Starts runs in a session and shows them as one conversation, with approvals in place. The conversation scrolls above
 * the composer, which stays in reach however long it becomes.
 */
export function SessionTalk(props: {
  /** Creates the session with the first message where there is none yet. */
  readonly session: () => Promise<SessionHandle>;
  readonly earlier: readonly RunRecord[];
  readonly takesFiles: boolean;
  /** What the agent takes. More than a prompt is typed into a form. */
  readonly schema?: JsonObject | undefined;
  readonly blocked?: string | undefined;
  /** The initial text of the composer. */
  readonly draft?: string | undefined;
  /** What stands where the conversation will be. */
  readonly welcome?: JSX.Element | undefined;
}): JSX.Element {
  const [started, setStarted] = useState<readonly RunRecord[]>([]);
  const mayWrite = useRight('runs:write');
  const follow = useSignal(true);
  const known = new Set(started.map(({ id }) => id));
  const runs = [...props.earlier.filter(({ id }) => !known.has(id)), ...started];
  const [stores, setStores] = useState<ReadonlyMap<string, RunStore>>(new Map());
  const current = stores.get(runs.at(-1)?.id ?? '');
  const stop = useStopRun(mayWrite ? current : undefined);
  const question = useAnswering([...stores.values()]);
  const start = async (input: string | JsonObject, files: readonly string[]) => {
    const session = await props.session();
    const run = await session.run(input, files.length === 0 ? {} : { files });
    // People want to see their own message, even if they had scrolled up.
    follow.value = true;
    setStarted((before) => [...before, run.record]);
  };
  const send = async (prompt: string, files: readonly File[]) => {
    const session = await props.session();
    if (question.asked !== undefined) {
      await session.interactions.answer(question.asked.key, { answer: prompt.trim() });
      return;
    }
    await start(prompt, await uploadFiles(session, files));
  };
  return (
    <div class="talk">
      <FollowedLog follow={follow} isLive={current?.record.value.status === 'running'} ownPane>
        {runs.length === 0
          ? props.welcome
          : runs.map((run) => (
              <OneTalk
                key={run.id}
                first={run}
                onOpen={(store) => setStores((before) => new Map([...before, [run.id, store]]))}
              />
            ))}
      </FollowedLog>
      <Writing
        schema={question.asked === undefined ? props.schema : undefined}
        onStart={(input) => start(input, [])}
        onSend={send}
        answers={question.asked?.request.question}
        notice={
          <>
            {stop.question}
            {question.notice}
          </>
        }
        actions={stop.button}
        takesFiles={props.takesFiles}
        draft={props.draft}
        blocked={mayWrite ? props.blocked : 'Read-only access'}
      />
    </div>
  );
}

async function uploadFiles(session: SessionHandle, files: readonly File[]): Promise<string[]> {
  const ids: string[] = [];
  for (const file of files) ids.push((await session.files.upload(file)).id);
  return ids;
}

/** The composer, or a form for an agent that takes more than a prompt. */
function Writing(
  props: ComposerProps & {
    readonly schema: JsonObject | undefined;
    readonly onStart: (input: JsonObject) => Promise<unknown>;
  },
): JSX.Element {
  const { schema, onStart, ...composer } = props;
  if (schema === undefined || !takesMore(schema)) return <Composer {...composer} />;
  const { notice, actions, draft, blocked } = composer;
  return <InputForm {...{ schema, notice, actions, draft, blocked }} onSend={onStart} />;
}

function OneTalk(props: {
  readonly first: RunRecord;
  readonly onOpen: (store: RunStore) => void;
}): JSX.Element {
  const { client, tenantId } = useTenant();
  const store = useMemo(() => new RunStore(client, props.first), [props.first.id]);
  useEffect(() => store.open(), [store]);
  useEffect(() => props.onOpen(store), [store]);
  const { items, hasEnded: isOver } = store.view.value;
  const run = store.record.value;
  return (
    <>
      <Conversation run={run} items={items} hasEnded={isOver} />
      <WaitLines run={run} />
      {store.error.value !== undefined && <ProblemNote error={store.error.value} />}
      <p class="divider">
        <Status of={isParkedNow(store) ? 'parked' : run.status} />
        {hasEnded(run) && <Spent run={run} />}
        <a href={addressOf('run', { tenant: tenantId, run: run.id })}>View run</a>
      </p>
    </>
  );
}

/** The time of an answer, and its tokens and cost if a model was called. */
function Spent({ run }: { readonly run: RunRecord }): JSX.Element {
  const { usage } = run;
  const tokens = usage === undefined ? 0 : usage.input_tokens + usage.output_tokens;
  return (
    <>
      <Took from={run.started_at} to={run.ended_at} />
      {tokens > 0 && <span>{`${short(tokens)} tokens`}</span>}
      {usage?.cost !== undefined && <span>{money(usage.cost, usage.currency ?? '')}</span>}
    </>
  );
}
