import type { SessionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Confirm, FormDialog, useAction } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Labels } from '../../parts/list/labels.tsx';
import { Card, Heading, Await } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { newestRuns } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { useResource, useRight, useTenant, useTitle } from '../../session/use.ts';
import { SessionFiles } from './session-files.tsx';
import { SessionMemory } from './session-memory.tsx';
import { titleOf } from './sessions.tsx';
import { SessionTalk } from '../try-it.tsx';

export function SessionScreen({ session: id = '' }: RouteParams): JSX.Element {
  const tenant = useTenant();
  const { client, tenantId } = tenant;
  const found = useResource(`${tenantId}/session/${id}`, () => client.sessions.at(id).read());
  const runs = useResource(`${tenantId}/session-runs/${id}`, () =>
    newestRuns(client.sessions.at(id)),
  );
  useRefreshOnNotice(
    (notice) => notice.session_id === id,
    () => {
      inBackground(found.refresh());
      inBackground(runs.refresh());
    },
  );
  const name = found.data.value?.agent_name;
  const agent = useResource(`${tenantId}/agent-of-session/${name ?? 'none'}`, () =>
    name === undefined ? Promise.resolve(undefined) : client.agents.get(name),
  );
  return (
    <Await resource={found} title="Session">
      {(session) => (
        <>
          <SessionHeading session={session} onChange={found.set.bind(found)} />
          <div class="columns side">
            <Card title="Conversation" class="chat">
              <Await resource={runs}>
                {(earlier) => (
                  <SessionTalk
                    session={() => Promise.resolve(client.sessions.at(id))}
                    earlier={earlier}
                    takesFiles={session.session_files_supported}
                    schema={agent.data.value?.input_schema}
                    blocked={blockedBy(session)}
                    welcome={<Empty title="No messages yet." />}
                  />
                )}
              </Await>
            </Card>
            <div class="stack side-pane">
              <About session={session} />
              <SessionMemory sessionId={session.id} />
              {session.session_files_supported && <SessionFiles sessionId={session.id} />}
            </div>
          </div>
        </>
      )}
    </Await>
  );
}

function About({ session }: { readonly session: SessionRecord }): JSX.Element {
  const { tenantId } = useTenant();
  return (
    <Card title="About">
      <dl class="facts card-body">
        <dt>Agent</dt>
        <dd>
          <a href={addressOf('agent', { tenant: tenantId, agent: session.agent_name })}>
            {session.agent_name}
          </a>
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={session.created_at} />
        </dd>
        <dt>Last activity</dt>
        <dd>
          <Time at={session.updated_at} />
        </dd>
        <dt>ID</dt>
        <dd>
          <button
            type="button"
            class="button quiet small id-button"
            title="Copy ID"
            onClick={() => inBackground(copyText(session.id, 'ID copied'))}
          >
            <code class="breaks">{session.id}</code>
          </button>
        </dd>
      </dl>
    </Card>
  );
}

function blockedBy({ status }: SessionRecord): string | undefined {
  if (status === 'terminated' || status === 'failed') return 'This session has ended';
  if (status === 'stopped' || status === 'stopping')
    return 'This session is stopped. Resume it to continue.';
  return undefined;
}

function SessionHeading(props: {
  readonly session: SessionRecord;
  readonly onChange: (session: SessionRecord) => void;
}): JSX.Element {
  const { session, onChange } = props;
  const { client } = useTenant();
  const mayWrite = useRight('sessions:write');
  const [asked, setAsked] = useState<'rename' | 'end' | undefined>(undefined);
  const close = () => setAsked(undefined);
  const handle = client.sessions.at(session.id);
  const stop = useAction(async () => onChange(await handle.stop()));
  const resume = useAction(async () => onChange(await handle.resume()));
  useTitle(titleOf(session));
  const isOver = session.status === 'terminated' || session.status === 'failed';
  const error = stop.error ?? resume.error;
  return (
    <>
      <Heading
        title={titleOf(session)}
        actions={
          <>
            <Button onClick={() => setAsked('rename')} isAllowed={mayWrite}>
              Rename
            </Button>
            {session.status === 'stopped' && (
              <Button onClick={resume.run} isAllowed={mayWrite} disabled={resume.isBusy}>
                Resume
              </Button>
            )}
            {!isOver && session.status !== 'stopped' && (
              <Button onClick={stop.run} isAllowed={mayWrite} disabled={stop.isBusy}>
                Stop
              </Button>
            )}
            {!isOver && (
              <Button kind="danger" onClick={() => setAsked('end')} isAllowed={mayWrite}>
                Terminate
              </Button>
            )}
          </>
        }
      >
        <p class="summary-line">
          <Status of={session.status} />
          {session.status_reason !== undefined && <span>{session.status_reason}</span>}
        </p>
        <Labels of={session.labels} list="sessions" />
      </Heading>
      {error !== undefined && <ProblemNote error={error} />}
      {asked === 'rename' && (
        <RenameDialog
          title={session.title ?? ''}
          onRename={async (title) => onChange(await handle.update({ title }))}
          onClose={close}
        />
      )}
      {asked === 'end' && (
        <EndDialog
          onEnd={async () => onChange(await handle.stop({ mode: 'terminate' }))}
          onClose={close}
        />
      )}
    </>
  );
}

/** An empty title removes it: the session is then called by its id. */
function RenameDialog(props: {
  readonly title: string;
  readonly onRename: (title: string | null) => Promise<unknown>;
  readonly onClose: () => void;
}): JSX.Element {
  const [title, setTitle] = useState(props.title);
  return (
    <FormDialog
      title="Rename session"
      action="Save"
      isReady
      onSubmit={() => props.onRename(title.trim() === '' ? null : title.trim())}
      onClose={props.onClose}
    >
      <TextField label="Title" value={title} onInput={setTitle} />
    </FormDialog>
  );
}

function EndDialog(props: {
  readonly onEnd: () => Promise<unknown>;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Confirm
      title="Terminate this session?"
      action="Terminate"
      onConfirm={props.onEnd}
      onClose={props.onClose}
    >
      <p>
        Its runs are cancelled and it accepts no new ones. Its history and files stay readable until
        the server’s retention deletes them.
      </p>
    </Confirm>
  );
}
