import type { JSX } from 'preact';
import { number, visible } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { Card, Heading, Shown } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Took } from '../parts/time.tsx';
import { type RunSummary, getOverview, listAgents, listRuns } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import type { TenantScope } from '../session/session.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';
import { UsageStrip } from './usage-strip.tsx';
import { Waiting } from './waiting.tsx';

const dayMs = 86_400_000;

/** What needs a person now, what runs now, and what went wrong today. Each number leads to the list it counts. */
export function HomeScreen(): JSX.Element {
  useTitle('Home');
  const tenant = useTenant();
  return (
    <>
      <Heading title="Home">
        <p class="muted">{visible(tenantAndOrganization(tenant))}</p>
      </Heading>
      <Figures />
      <div class="two">
        <Waiting />
        <Now />
      </div>
      <UsageStrip />
      <TryAgents />
    </>
  );
}

/** A first tenant often has the name of its organization: then one name says it. */
function tenantAndOrganization({ name, organizationName }: TenantScope): string {
  return name === organizationName ? name : `${name}, ${organizationName}`;
}

function Figures(): JSX.Element {
  const tenant = useTenant();
  const overview = useResource(`${tenant.tenantId}/overview`, () => getOverview(tenant));
  const failed = useFailedToday();
  useRefreshOnNotice(
    () => true,
    () => overview.refresh(),
  );
  const bad = failed.data.value;
  const runs = (query: Readonly<Record<string, string>>) =>
    addressOf('runs', { tenant: tenant.tenantId }, query);
  return (
    <Shown of={overview}>
      {({ runs: counts, pending_interactions: waiting }) => (
        <div class="figures">
          <Figure
            of="waiting"
            count={waiting}
            words={waiting === 1 ? 'waits for you' : 'wait for you'}
            href={addressOf('approvals', { tenant: tenant.tenantId })}
          />
          <Figure of="running" count={counts.running} href={runs({ status: 'running' })} />
          <Figure of="queued" count={counts.queued} href={runs({ status: 'queued' })} />
          <Figure
            of="failed"
            count={bad?.items.length}
            isMore={bad?.nextCursor !== undefined}
            words="failed in 24 h"
            href={runs({ status: 'failed', hours: '24' })}
          />
        </div>
      )}
    </Shown>
  );
}

/** A number with its state. Zero is quiet: colour is for what needs attention. */
function Figure(props: {
  readonly of: string;
  /** Unknown until the server has answered. */
  readonly count: number | undefined;
  readonly isMore?: boolean;
  readonly words?: string;
  readonly href: string;
}): JSX.Element {
  const { of, count, isMore = false } = props;
  return (
    <a href={props.href} class={count === undefined || count === 0 ? 'none' : ''}>
      <span class="value">
        {count === undefined ? '–' : `${number(count)}${isMore ? '+' : ''}`}
      </span>
      <Status of={of} words={props.words} />
    </a>
  );
}

/** Failed runs of the last day: their number, and the newest of them. */
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

function Now(): JSX.Element {
  const tenant = useTenant();
  const active = useResource(`${tenant.tenantId}/home-active`, () =>
    listRuns(tenant, { status: ['running', 'queued', 'cancelling'], limit: 6 }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => active.refresh(),
  );
  const bad = useFailedToday().data.value?.items.slice(0, 4) ?? [];
  return (
    <Card title="Now" aside={<a href={addressOf('runs', { tenant: tenant.tenantId })}>all runs</a>}>
      <Shown of={active}>
        {({ items }) =>
          items.length + bad.length === 0 ? (
            <Empty title="Nothing runs, and nothing failed today." />
          ) : (
            <div class="list">
              {[...items, ...bad].map((run) => (
                <RunRow key={run.id} run={run} />
              ))}
            </div>
          )
        }
      </Shown>
    </Card>
  );
}

function RunRow({ run }: { readonly run: RunSummary }): JSX.Element {
  const { tenantId } = useTenant();
  return (
    <a class="row" href={addressOf('run', { tenant: tenantId, run: run.id })}>
      <Status of={run.status} />
      <span class="nowrap">{visible(run.agent_name)}</span>
      <span class="grow clip muted">
        {run.error_code === undefined ? (
          visible(run.preview)
        ) : (
          <code class="failed">{run.error_code}</code>
        )}
      </span>
      <span class="muted small">
        <Took from={run.started_at ?? run.created_at} to={run.ended_at} />
      </span>
    </a>
  );
}

function TryAgents(): JSX.Element {
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  return (
    <Card title="Try an agent">
      <div class="body">
        <Shown of={agents}>
          {(all) =>
            all.length === 0 ? (
              <p class="muted">
                No agents yet: put a folder with an <code>agent.yaml</code> into the agents folder.
              </p>
            ) : (
              <div class="buttons">
                {all.slice(0, 12).map(({ name }) => (
                  <a
                    key={name}
                    class="button"
                    href={addressOf('agent', { tenant: tenant.tenantId, agent: name })}
                  >
                    {visible(name)}
                  </a>
                ))}
              </div>
            )
          }
        </Shown>
      </div>
    </Card>
  );
}
