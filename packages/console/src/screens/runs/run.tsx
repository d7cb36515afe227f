import { ConvokeError, type RunRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { duration, firstWords, number, plural } from '../../data/formats.ts';
import { inBackground } from '../../data/in-background.ts';
import { jsonSummary } from '../../data/json-text.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { canCancel, hasEnded } from '../../data/run-rows.ts';
import { toolsWithEffect } from '../../data/transcript.ts';
import { RunStore } from '../../data/run-store.ts';
import { money } from '../../data/usage.ts';
import { cliOf, curlOf, sdkOf } from '../../data/snippets.ts';
import { Button } from '../../parts/button.tsx';
import { now } from '../../page/clock.ts';
import { copyText } from '../../parts/copy.tsx';
import { Confirm, useAction } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Labels } from '../../parts/list/labels.tsx';
import { MenuButton } from '../../parts/menu.tsx';
import { Heading, Await } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { WaitLines, isParkedNow } from '../../parts/waits.tsx';
import { Waterfall } from '../../parts/waterfall.tsx';
import { findRun } from '../../session/api.ts';
import { baseUrl } from '../../session/code-flow.ts';
import { useResource, useRight, useTenant, useTitle } from '../../session/use.ts';
import { actorName } from '../../session/actors.ts';
import { navigate, place, setQuery } from '../../page/router.ts';
import { CalledBy, Calls } from './calls.tsx';
import { ChosenEvent } from './open-event.tsx';
import { RunFeedback } from './run-feedback.tsx';
import { RunOutput } from './run-output.tsx';
import { RunTabs } from './run-tabs.tsx';

/** One run: its timeline, its conversation and every event. */
export function RunScreen({ run: id = '' }: RouteParams): JSX.Element {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/run/${id}`, () => findRun(tenant, id));
  return (
    <Await resource={found} title="Run">
      {(record) => <OneRun key={record.id} first={record} />}
    </Await>
  );
}

function OneRun({ first }: { readonly first: RunRecord }): JSX.Element {
  const tenant = useTenant();
  const store = useMemo(() => new RunStore(tenant.client, first), [first.id]);
  useEffect(() => store.open(), [store]);
  const run = store.record.value;
  useTitle(`${first.agent_name}: ${firstWords(promptOf(run), 40)}`);
  return (
    <>
      <CalledBy run={run} />
      <RunHeading store={store} run={run} />
      {store.error.value !== undefined && (
        <ProblemNote error={store.error.value} retry={() => store.refresh()} />
      )}
      <Calls run={run} />
      <RunSpans store={store} />
      {run.output !== undefined && <RunOutput output={run.output} />}
      <RunTabs store={store} run={run} />
      <LiveStatus run={run} />
    </>
  );
}

function promptOf({ input }: RunRecord): string {
  return typeof input['prompt'] === 'string' ? input['prompt'] : jsonSummary(input);
}

const statusNames: Readonly<Record<string, string>> = {
  queued: 'Queued',
  running: 'Running',
  waiting: 'Waiting for you',
  cancelling: 'Cancelling',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function RunHeading(props: { readonly store: RunStore; readonly run: RunRecord }): JSX.Element {
  const { store, run } = props;
  const mayAnswer = useRight('interactions:write');
  const isElsewhere = run.status === 'waiting' && !mayAnswer;
  const name = isElsewhere ? 'Waiting' : statusNames[run.status];
  const isParked = isParkedNow(store);
  const { tenantId } = useTenant();
  const params = { tenant: tenantId, session: run.session_id, agent: run.agent_name };
  return (
    <>
      <Heading title={firstWords(promptOf(run))} actions={<RunActions store={store} run={run} />}>
        <p class="summary-line">
          <Status of={isParked ? 'parked' : run.status} label={isParked ? 'Waiting' : name} />
          <a href={addressOf('agent', params)}>{run.agent_name}</a>
          <a href={addressOf('session', params)}>session</a>
          {run.agent_digest !== undefined && (
            <a
              href={addressOf('runs', params, { version: run.agent_digest.slice(0, 8) })}
              title="All runs of this version of the agent"
            >
              {`version ${run.agent_digest.slice(0, 8)}`}
            </a>
          )}
          {run.attempt > 1 && <span>{`attempt ${run.attempt}`}</span>}
          {run.queue_position !== undefined && (
            <span>{`number ${run.queue_position} in the queue`}</span>
          )}
          <span>
            started <Time at={run.created_at} />
            <By actor={run.created_by} />
          </span>
          {run.cancelled_by !== undefined && (
            <span>
              cancelled
              <By actor={run.cancelled_by} />
            </span>
          )}
        </p>
        <WaitLines run={run} />
        <RunCounters store={store} run={run} />
        <Labels of={run.labels} list="runs" />
        <RunFeedback run={run} />
      </Heading>
    </>
  );
}

function RunCounters(props: { readonly store: RunStore; readonly run: RunRecord }): JSX.Element {
  const { store, run } = props;
  const { queuedMs, executedMs, waitedMs } = store.view.value.spansAt(now.value);
  return (
    <p class="summary-line">
      {(queuedMs > 0 || executedMs === 0) && <span>{`queued ${duration(queuedMs)}`}</span>}
      {executedMs > 0 && <span>{`ran ${duration(executedMs)}`}</span>}
      {waitedMs > 999 && <span>{`waited ${duration(waitedMs)}`}</span>}
      {run.usage !== undefined && (
        <span title="tokens in and out">
          {`${number(run.usage.input_tokens)} + ${number(run.usage.output_tokens)} tokens`}
        </span>
      )}
      {run.usage?.cost !== undefined && (
        <span title="cost of the run">{money(run.usage.cost, run.usage.currency ?? '')}</span>
      )}
      <button
        type="button"
        class="button quiet small id-button"
        title="Copy run ID"
        onClick={() => inBackground(copyText(run.id, 'ID copied'))}
      >
        <code>{run.id}</code>
      </button>
    </p>
  );
}

function By({ actor }: { readonly actor: RunRecord['created_by'] }): JSX.Element | null {
  if (actor === undefined) return null;
  return <span title={actor.id}>{` by ${actorName(actor)}`}</span>;
}

function RunActions(props: { readonly store: RunStore; readonly run: RunRecord }): JSX.Element {
  const { store, run } = props;
  const tenant = useTenant();
  const mayWrite = useRight('runs:write');
  const [isAsking, setAsking] = useState(false);
  const again = useAction(async (where: Where) => {
    const next = await (where === 'new' ? runAnew(tenant, run) : runAgain(tenant, run));
    navigate(addressOf('run', { tenant: tenant.tenantId, run: next.id }));
  });
  const facts = {
    baseUrl: baseUrl(),
    organizationId: tenant.organizationId,
    tenantId: tenant.tenantId,
    agentName: run.agent_name,
    sessionId: run.session_id,
    input: run.input,
  };
  const command = cliOf(facts);
  return (
    <>
      <MenuButton
        hotkey="c"
        label={
          <>
            Copy <Icon name="ChevronDown" />
          </>
        }
      >
        <CopyItem text={curlOf(facts)} label="Copy as curl" />
        <CopyItem text={sdkOf(facts)} label="Copy as SDK code" />
        {command !== undefined && <CopyItem text={command} label="Copy as CLI command" />}
        <CopyItem text={location.href} label="Copy link" />
        {run.trace_id !== undefined && <CopyItem text={run.trace_id} label="Copy trace ID" />}
      </MenuButton>
      {hasEnded(run) && mayWrite && (
        <RunAgain
          run={run}
          tools={toolsWithEffect(store.view.value.items)}
          onRun={(where) => again.run(where)}
        />
      )}
      {!hasEnded(run) && (
        <Button
          kind="danger"
          onClick={() => setAsking(true)}
          isAllowed={mayWrite}
          disabled={!canCancel(run)}
        >
          Cancel
        </Button>
      )}
      {again.error !== undefined && <ProblemNote error={again.error} />}
      {isAsking && (
        <Confirm
          title="Cancel this run?"
          action="Cancel the run"
          onConfirm={() => store.cancel()}
          onClose={() => setAsking(false)}
        >
          <p>The agent stops. Its output so far is kept.</p>
        </Confirm>
      )}
    </>
  );
}

type Where = 'same' | 'new';

/** Asks where first, and once more where a tool had an effect: an agent that paid would pay once more. */
function RunAgain(props: {
  readonly run: RunRecord;
  readonly tools: readonly string[];
  readonly onRun: (where: Where) => Promise<unknown>;
}): JSX.Element {
  const { run, tools, onRun } = props;
  const { tenantId } = useTenant();
  const [asked, setAsked] = useState<Where | undefined>(undefined);
  const params = { tenant: tenantId, agent: run.agent_name };
  const choose = (where: Where) =>
    tools.length === 0 ? inBackground(onRun(where)) : setAsked(where);
  return (
    <>
      <MenuButton
        label={
          <>
            Run again <Icon name="ChevronDown" />
          </>
        }
      >
        <button type="button" onClick={() => choose('same')}>
          In this session
        </button>
        <button type="button" onClick={() => choose('new')}>
          In a new session
        </button>
        {typeof run.input['prompt'] === 'string' && (
          <a href={addressOf('agent', params, { prompt: promptOf(run) })}>Edit first</a>
        )}
      </MenuButton>
      {asked !== undefined && (
        <Confirm
          title="Run this again?"
          action="Run again"
          onConfirm={() => onRun(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            {'This run called '}
            <code>{tools.join(', ')}</code>
            {'. The agent may do the same again, with the same effect.'}
          </p>
        </Confirm>
      )}
    </>
  );
}

function CopyItem(props: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    <button type="button" onClick={() => inBackground(copyText(props.text, 'Copied'))}>
      {props.label}
    </button>
  );
}

/** In the same session; when that takes no more runs, in a new one. */
async function runAgain(tenant: ReturnType<typeof useTenant>, run: RunRecord) {
  try {
    return await tenant.client.sessions.at(run.session_id).run(run.input);
  } catch (error) {
    const isOver =
      error instanceof ConvokeError &&
      ['session_terminal', 'session_stopped', 'not_found'].includes(error.code);
    if (!isOver) throw error;
    announce('That session accepts no more runs. Started a new session.');
    return runAnew(tenant, run);
  }
}

async function runAnew({ client }: ReturnType<typeof useTenant>, run: RunRecord) {
  return (await client.sessions.create(run.agent_name)).run(run.input);
}

function RunSpans({ store }: { readonly store: RunStore }): JSX.Element {
  const isOver = store.view.value.hasEnded;
  const hasChosen = place.value.query.has('event');
  return (
    <div class={`run-time ${hasChosen ? 'chosen' : ''}`}>
      <Waterfall
        spans={store.view.value.spansAt(isOver ? 0 : now.value)}
        onOpen={(event) => setQuery({ event })}
      />
      <ChosenEvent store={store} />
    </div>
  );
}

/** Says the state of the run to those who do not see it; the text itself is not read out while it streams. */
function LiveStatus({ run }: { readonly run: RunRecord }): JSX.Element {
  const text =
    run.status === 'running'
      ? run.open_waits === undefined
        ? 'answering'
        : 'waits'
      : run.status === 'waiting'
        ? `needs you: ${plural(run.pending_interactions, 'thing')} to answer`
        : run.status;
  return (
    <p class="hidden-text" role="status">
      {text}
    </p>
  );
}
