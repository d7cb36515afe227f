import type { JSX } from 'preact';
import { number } from '../data/formats.ts';
import { readyFirst } from '../data/ready-agents.ts';
import { addressOf } from '../data/routes.ts';
import { mayBeginToWait, rowAfter, shownState } from '../data/run-rows.ts';
import { Card, Heading, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Took } from '../parts/time.tsx';
import { type RunSummary, getOverview, listAgents, listRuns } from '../session/api.ts';
import { useNotices, useRefreshOnNotice, useRefreshWhile } from '../session/live.ts';
import { useResource, useRight, useTenant, useTitle } from '../session/use.ts';
import { FirstSteps, useFirstVisit } from './first-steps.tsx';
import { UsageStrip } from './usage-strip.tsx';
import { Waiting } from './waiting.tsx';

const dayMs = 86_400_000;

/** What needs a person now, and what happened last. Each number leads to the list it counts. */
export function HomeScreen(): JSX.Element {
  useTitle('Home');
  const visit = useFirstVisit();
  return (
    <>
      <Heading title="Home" />
      <FirstSteps visit={visit} />
      {!visit.isEmpty && <Counters />}
      <div class="columns">
        <Waiting />
        <LastRuns />
      </div>
      {!visit.isEmpty && <UsageStrip />}
      <TryAgents />
    </>
  );
}

function Counters(): JSX.Element {
  const tenant = useTenant();
  const overview = useResource(`${tenant.tenantId}/overview`, () => getOverview(tenant));
  const failed = useFailedToday();
  const mayAnswer = useRight('interactions:write');
  useRefreshOnNotice(
    () => true,
    () => overview.refresh(),
  );
  const bad = failed.data.value;
  const runs = (query: Readonly<Record<string, string>>) =>
    addressOf('runs', { tenant: tenant.tenantId }, query);
  return (
    <Await resource={overview}>
      {({ runs: counts, pending_interactions: waiting }) => (
        <div class="counters">
          <Counter
            of="waiting"
            count={waiting}
            label={mayAnswer ? 'waiting for you' : 'waiting'}
            href={addressOf('approvals', { tenant: tenant.tenantId })}
          />
          <Counter of="running" count={counts.running} href={runs({ status: 'running' })} />
          <Counter of="queued" count={counts.queued} href={runs({ status: 'queued' })} />
          <Counter
            of="failed"
            count={bad?.items.length}
            isMore={bad?.nextCursor !== undefined}
            label="failed (24 h)"
            href={runs({ status: 'failed', hours: '24' })}
          />
        </div>
      )}
    </Await>
  );
}

/** A number with its state. Zero is quiet: colour is for what needs attention. */
function Counter(props: {
  readonly of: string;
  /** Unknown until the server has answered. */
  readonly count: number | undefined;
  readonly isMore?: boolean;
  readonly label?: string;
  readonly href: string;
}): JSX.Element {
  const { of, count, isMore = false } = props;
  return (
    <a href={props.href} class={count === undefined || count === 0 ? 'none' : ''}>
      <span class="value">
        {count === undefined ? '–' : `${number(count)}${isMore ? '+' : ''}`}
      </span>
      <Status of={of} label={props.label} />
    </a>
  );
}

/** Failed runs of the last day. */
function useFailedToday() {
  const tenant = useTenant();
  const failed = useResource(`${tenant.tenantId}/home-failed`, () => {
    const createdAfter = new Date(Date.now() - dayMs).toISOString();
    return listRuns(tenant, { status: 'failed', limit: 100, createdAfter }, undefined);
  });
  useRefreshOnNotice(
    ({ type }) => type === 'run_failed',
    () => failed.refresh(),
  );
  return failed;
}

/** Runs on the first page. */
const newestShown = 8;

/** The last runs of any state. A row changes with the feed, and a new run joins at the top. */
function LastRuns(): JSX.Element {
  const tenant = useTenant();
  const runs = useResource(`${tenant.tenantId}/home-runs`, () =>
    listRuns(tenant, { limit: newestShown }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => runs.refresh(),
  );
  useRefreshWhile(
    () => runs.data.peek()?.items.some(mayBeginToWait) === true,
    () => runs.refresh(),
  );
  useNotices((notice) => {
    const known = runs.data.peek();
    if (notice?.run_id === undefined || known === undefined) return;
    const items = known.items.map((run) =>
      run.id === notice.run_id ? rowAfter(run, notice) : run,
    );
    runs.set({ ...known, items });
  });
  return (
    <Card
      title="Last runs"
      aside={<a href={addressOf('runs', { tenant: tenant.tenantId })}>View all</a>}
    >
      <Await resource={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No runs yet." />
          ) : (
            <div class="list">
              {items.map((run) => (
                <RunRow key={run.id} run={run} />
              ))}
            </div>
          )
        }
      </Await>
    </Card>
  );
}

function RunRow({ run }: { readonly run: RunSummary }): JSX.Element {
  const { tenantId } = useTenant();
  return (
    <a class="list-row" data-row href={addressOf('run', { tenant: tenantId, run: run.id })}>
      <Status of={shownState(run)} />
      <span class="nowrap">{run.agent_name}</span>
      <span class="grow clip muted">
        {run.error_code === undefined ? run.preview : <code class="failed">{run.error_code}</code>}
      </span>
      <span class="muted small">
        {run.ended_at === undefined ? (
          <Took from={run.started_at ?? run.created_at} to={undefined} />
        ) : (
          <Time at={run.ended_at} />
        )}
      </span>
    </a>
  );
}

/** Agents that fit on the first page. */
const maxTried = 12;

/** Those that can run come first. */
function TryAgents(): JSX.Element {
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  const count = agents.data.value?.length ?? 0;
  return (
    <Card
      title="Try an agent"
      aside={
        <a href={addressOf('agents', { tenant: tenant.tenantId })}>
          {count > maxTried ? `View all ${count}` : 'View all'}
        </a>
      }
    >
      <div class="card-body">
        <Await resource={agents}>
          {(all) =>
            all.length === 0 ? (
              <p class="muted">
                No agents yet. Add a folder with an <code>agent.yaml</code> to the agents folder.
              </p>
            ) : (
              <div class="buttons">
                {readyFirst(all)
                  .slice(0, maxTried)
                  .map(({ name, missing_variables: missing }) => (
                    <a
                      key={name}
                      class={`button ${missing === undefined ? '' : 'unable'}`}
                      title={missing === undefined ? undefined : `Needs ${missing.join(', ')}`}
                      href={addressOf('agent', { tenant: tenant.tenantId, agent: name })}
                    >
                      {name}
                      {missing !== undefined && <span class="small">needs a key</span>}
                    </a>
                  ))}
              </div>
            )
          }
        </Await>
      </div>
    </Card>
  );
}
