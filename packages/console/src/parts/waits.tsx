import type { RunRecord, RunSummary } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { neededIn, otherWaitsIn } from '../data/calls.ts';
import { moment, until } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import type { PageOf } from '../data/pages.ts';
import type { Resource } from '../data/resource.ts';
import { addressOf } from '../data/routes.ts';
import type { RunStore } from '../data/run-store.ts';
import { type OpenWait, parsedMessage, waitName, waitsOf } from '../data/waits.ts';
import { now } from '../page/clock.ts';
import { settings } from '../page/settings.ts';
import { listCalledRuns } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { useResource, useRight, useTenant } from '../session/use.ts';
import { Button } from './button.tsx';
import { FormDialog } from './dialog.tsx';
import { TextArea, TextField } from './field.tsx';
import { Status } from './status.tsx';
import { Took } from './time.tsx';
import { announce } from './toast.tsx';

/** The run waits for a time, a message or another run, and nothing executes. */
export function isParkedNow({ view, record }: Pick<RunStore, 'view' | 'record'>): boolean {
  const { status, open_waits: open } = record.value;
  return status === 'running' && open !== undefined && view.value.spansAt(now.value).isParked;
}

/** Why nothing happens: one line for each thing that the run waits for, with its age and its end. */
export function WaitLines({ run }: { readonly run: RunRecord }): JSX.Element | null {
  const waits = waitsOf(run);
  const [sent, setSent] = useState<OpenWait | undefined>(undefined);
  if (waits.length === 0) return null;
  const more = (run.open_waits ?? 0) - waits.length;
  return (
    <>
      <ul class="waits" aria-label="What the run waits for">
        {waits.map((wait, index) => (
          <WaitLine
            key={`${wait.kind} ${wait.name} ${index}`}
            run={run}
            wait={wait}
            onSend={() => setSent(wait)}
          />
        ))}
        {more > 0 && <li class="muted">{`and ${more} more`}</li>}
      </ul>
      {sent !== undefined && (
        <SendMessage run={run} name={sent.name} onClose={() => setSent(undefined)} />
      )}
    </>
  );
}

function WaitLine(props: {
  readonly run: RunRecord;
  readonly wait: OpenWait;
  readonly onSend: () => void;
}): JSX.Element {
  const { run, wait, onSend } = props;
  const mayWrite = useRight('runs:write');
  const { child_run_id: called } = wait;
  return (
    <li>
      <span class="muted" aria-hidden="true">
        ◇
      </span>
      <span class="grow">
        {called === undefined ? (
          waitName(wait)
        ) : (
          <CalledLink run={run} called={called} name={waitName(wait)} />
        )}{' '}
        <span class="muted">
          {'for '}
          <Took from={wait.since} to={undefined} />
          <End at={wait.until} />
        </span>
      </span>
      {wait.kind === 'signal' && (
        <Button size="small" onClick={onSend} isAllowed={mayWrite}>
          Send a message
        </Button>
      )}
    </li>
  );
}

/** A called run, with its own status: the reason why its caller waits. */
function CalledLink(props: {
  readonly run: RunRecord;
  readonly called: string;
  readonly name: string;
}): JSX.Element {
  const { run, called, name } = props;
  const { tenantId } = useTenant();
  const found = useCalledRuns(run).data.value?.items.find(({ id }) => id === called);
  return (
    <>
      <a href={addressOf('run', { tenant: tenantId, run: called })}>{name}</a>
      {found !== undefined && (
        <>
          {' '}
          <CalledStatus run={found} />
        </>
      )}
    </>
  );
}

/** The runs below a run, kept up to date while it is shown. */
export function useCalledRuns(run: RunRecord): Resource<PageOf<RunSummary>> {
  const tenant = useTenant();
  const called = useResource(`${tenant.tenantId}/calls/${run.id}`, () =>
    listCalledRuns(tenant, run.id),
  );
  const open = waitsOf(run).map(({ child_run_id: id }) => id ?? '');
  useEffect(() => {
    if (called.data.peek() !== undefined) inBackground(called.refresh());
  }, [open.join()]);
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_') || type.startsWith('interaction_'),
    () => called.refresh(),
  );
  return called;
}

/** One that needs a person says for what. */
export function CalledStatus({ run }: { readonly run: RunSummary }): JSX.Element {
  const isParked = run.status === 'running' && otherWaitsIn(run) !== '';
  return <Status of={isParked ? 'parked' : run.status} label={neededIn(run)} />;
}

function End({ at }: { readonly at: string | undefined }): JSX.Element | null {
  if (at === undefined) return null;
  const left = until(at, now.value);
  const when = `until ${moment(at, settings.timeZone.value, now.value)}`;
  return <>{`, ${when}${left === undefined ? '' : ` (in ${left})`}`}</>;
}

/** A message to the agent, under the name that it waits for. One key for all tries, so that none is received twice. */
function SendMessage(props: {
  readonly run: RunRecord;
  readonly name: string;
  readonly onClose: () => void;
}): JSX.Element {
  const { run, onClose } = props;
  const { client } = useTenant();
  const [name, setName] = useState(props.name);
  const [text, setText] = useState('');
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const data = parsedMessage(text);
  return (
    <FormDialog
      title="Send a message"
      action="Send"
      isReady={data.ok && name.trim() !== ''}
      onSubmit={async () => {
        if (!data.ok) return;
        const handle = client.sessions.at(run.session_id).runs.at(run.id);
        const { status } = await handle.signal(name.trim(), data.value, { idempotencyKey });
        announce(
          status === 'received'
            ? 'Received. The run continues.'
            : `Kept until the run waits for “${name.trim()}”.`,
        );
      }}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onInput={setName} max={64} />
      <TextArea
        label="Data as JSON"
        hint="Empty is null. The agent gets it as it would from outside."
        wrong={data.ok ? undefined : data.reason}
        value={text}
        onInput={setText}
        rows={6}
        isCode
        autofocus
      />
    </FormDialog>
  );
}
