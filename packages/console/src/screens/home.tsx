import type { JSX } from 'preact';
import { summaryTitle } from '../data/ask.ts';
import { number, visible } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { Card, Heading, Shown } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Took } from '../parts/time.tsx';
import {
  type RunSummary,
  getOverview,
  listAgents,
  listInteractions,
  listRuns,
} from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';
import { UsageStrip } from './usage-strip.tsx';

const dayMs = 86_400_000;

/** What needs a person now, what runs now, and what went wrong today. Each number leads to the list it counts. */
export function HomeScreen(): JSX.Element {
  useTitle('Home');
  const tenant = useTenant();
  return (
    <>
      <Heading title="Home">
        <p class="muted">{visible(`${tenant.name}, ${tenant.organizationName}`)}</p>
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

function Figures(): JSX.Element {
  const tenant = useTenant();
  const overview = useResource(`${tenant.tenantId}/overview`, () => getOverview(tenant));
  useRefreshOnNotice(
    () => true,
    () => overview.refresh(),
  );
  const runs = (status: string) => addressOf('runs', { tenant: tenant.tenantId }, { status });
  return (
    <Shown of={overview}>
      {({ runs: counts, pending_interactions: waiting }) => (
        <div class="figures">
          <a href={addressOf('approvals', { tenant: tenant.tenantId })}>
            <span class={`value ${waiting > 0 ? 'waiting' : ''}`}>{number(waiting)}</span>
            <span class="muted">{waiting === 1 ? 'waits for you' : 'wait for you'}</span>
          </a>
          <a href={runs('running')}>
            <span class="value">{number(counts.running)}</span>
            <Status of="running" />
          </a>
          <a href={runs('queued')}>
            <span class="value">{number(counts.queued)}</span>
            <Status of="queued" />
          </a>
          <a href={runs('waiting')}>
            <span class="value">{number(counts.waiting)}</span>
            <Status of="waiting" words="runs waiting" />
          </a>
        </div>
      )}
    </Shown>
  );
}

function Waiting(): JSX.Element {
  const tenant = useTenant();
  const pending = useResource(`${tenant.tenantId}/home-pending`, () =>
    listInteractions(tenant, { status: 'pending', limit: 6 }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('interaction_') || type.startsWith('run_'),
    () => pending.refresh(),
  );
  const inbox = (item?: string) => addressOf('approvals', { tenant: tenant.tenantId }, { item });
  return (
    <Card title="Waiting for you" aside={<a href={inbox()}>all</a>}>
      <Shown of={pending}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing waits for you." />
          ) : (
            <div class="list">
              {items.map((row) => (
                <a key={row.interaction_key} class="row" href={inbox(row.interaction_key)}>
                  <span class="waiting" aria-hidden="true">
                    ◆
                  </span>
                  <span class={`grow clip ${row.kind === 'permission' ? 'mono' : ''}`}>
                    {visible(summaryTitle(row))}
                  </span>
                  <span class="muted clip">{visible(row.agent_name)}</span>
                  <span class="muted small">
                    <Time at={row.created_at} />
                  </span>
                </a>
              ))}
            </div>
          )
        }
      </Shown>
    </Card>
  );
}

function Now(): JSX.Element {
  const tenant = useTenant();
  const active = useResource(`${tenant.tenantId}/home-active`, () =>
    listRuns(tenant, { status: 'active', limit: 6 }, undefined),
  );
  const failed = useResource(`${tenant.tenantId}/home-failed`, () =>
    listRuns(
      tenant,
      { status: 'failed', limit: 4, createdAfter: new Date(Date.now() - dayMs).toISOString() },
      undefined,
    ),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => {
      void active.refresh();
      void failed.refresh();
    },
  );
  const bad = failed.data.value?.items ?? [];
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
