import type { RunRecord, RunSummary } from '@convoke/sdk';
import type { JSX } from 'preact';
import { type CallNode, callTree, neededIn, otherWaitsIn } from '../../data/calls.ts';
import { addressOf } from '../../data/routes.ts';
import { Card } from '../../parts/page.tsx';
import { Took } from '../../parts/time.tsx';
import { CalledStatus, useCalledRuns } from '../../parts/waits.tsx';
import { callsShown, findRun } from '../../session/api.ts';
import { useResource, useTenant } from '../../session/use.ts';

/** The run that called this one, above its title. */
export function CalledBy({ run }: { readonly run: RunRecord }): JSX.Element | null {
  return run.parent_run_id === undefined ? null : <Caller id={run.parent_run_id} />;
}

function Caller({ id }: { readonly id: string }): JSX.Element {
  const tenant = useTenant();
  const caller = useResource(`${tenant.tenantId}/run/${id}`, () => findRun(tenant, id));
  return (
    <p class="summary-line">
      <span>
        {'called by '}
        <a href={addressOf('run', { tenant: tenant.tenantId, run: id })}>
          {caller.data.value?.agent_name ?? 'another run'}
        </a>
      </span>
    </p>
  );
}

/** The runs that the run has called, and those that these have called: the row that needs a person is marked. */
export function Calls({ run }: { readonly run: RunRecord }): JSX.Element | null {
  const called = useCalledRuns(run);
  const page = called.data.value;
  if (page === undefined || page.items.length === 0) return null;
  return (
    <Card title="Calls" class="calls">
      <div class="card-body">
        <CallList nodes={callTree(page.items)} />
        {page.nextCursor !== undefined && (
          <p class="muted">{`The first ${callsShown} are shown.`}</p>
        )}
      </div>
    </Card>
  );
}

function CallList({ nodes }: { readonly nodes: readonly CallNode<RunSummary>[] }): JSX.Element {
  return (
    <ul>
      {nodes.map(({ run, calls }) => (
        <li key={run.id}>
          <CallRow run={run} />
          {calls.length > 0 && <CallList nodes={calls} />}
        </li>
      ))}
    </ul>
  );
}

function CallRow({ run }: { readonly run: RunSummary }): JSX.Element {
  const { tenantId } = useTenant();
  const needed = neededIn(run);
  const waits = otherWaitsIn(run);
  return (
    <div class={needed === undefined ? 'call-row' : 'call-row needed'}>
      <a href={addressOf('run', { tenant: tenantId, run: run.id })}>{run.agent_name}</a>
      <CalledStatus run={run} />
      <span class="muted">
        {waits !== '' && `${waits} · `}
        <Took from={run.started_at ?? run.created_at} to={run.ended_at} />
      </span>
      <span class="muted clip">{run.preview}</span>
    </div>
  );
}
