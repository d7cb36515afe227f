import type { ScheduleFire, ScheduleRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exact, inZone } from '../data/formats.ts';
import { type RouteParams, addressOf } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { Confirm, useAction } from '../parts/dialog.tsx';
import { Plan } from '../parts/input/schedule-times.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Labels } from '../parts/list/labels.tsx';
import { PagedTable } from '../parts/list/table.tsx';
import { Card, Heading, Await } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Until } from '../parts/time.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { usePages, useResource, useRight, useTenant, useTitle } from '../session/use.ts';
import { navigate } from '../page/router.ts';
import { settings } from '../page/settings.ts';
import { ScheduleForm } from './schedule-form.tsx';

export function ScheduleScreen({ schedule: id = '' }: RouteParams): JSX.Element {
  const { client, tenantId } = useTenant();
  const found = useResource(`${tenantId}/schedule/${id}`, () => client.schedules.get(id));
  useRefreshOnNotice(
    ({ type }) => type.startsWith('schedule_') || type === 'run_queued',
    () => found.refresh(),
  );
  return (
    <Await resource={found} title="Schedule">
      {(schedule) => (
        <>
          <ScheduleHeading schedule={schedule} onChange={(next) => found.set(next)} />
          <div class="columns side">
            <Fires schedule={schedule} />
            <div class="stack">
              <Next schedule={schedule} />
              <About schedule={schedule} />
            </div>
          </div>
        </>
      )}
    </Await>
  );
}

function ScheduleHeading(props: {
  readonly schedule: ScheduleRecord;
  readonly onChange: (schedule: ScheduleRecord) => void;
}): JSX.Element {
  const { schedule, onChange } = props;
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('schedules:write');
  const [open, setOpen] = useState<'edit' | 'delete' | undefined>(undefined);
  useTitle(schedule.name);
  const isActive = schedule.status === 'active';
  const turn = useAction(async () =>
    onChange(await client.schedules[isActive ? 'pause' : 'resume'](schedule.id)),
  );
  const start = useAction(async () => {
    const run = await client.schedules.run(schedule.id);
    navigate(addressOf('run', { tenant: tenantId, run: run.id }));
  });
  const error = turn.error ?? start.error;
  return (
    <>
      <Heading
        title={schedule.name}
        actions={
          <>
            <Button onClick={start.run} isAllowed={mayWrite} disabled={start.isBusy}>
              Run now
            </Button>
            <Button onClick={turn.run} isAllowed={mayWrite} disabled={turn.isBusy}>
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button onClick={() => setOpen('edit')} isAllowed={mayWrite}>
              Edit
            </Button>
            <Button kind="danger" onClick={() => setOpen('delete')} isAllowed={mayWrite}>
              Delete
            </Button>
          </>
        }
      >
        <p class="summary-line">
          <Status of={schedule.status} />
          {schedule.status_reason !== undefined && <span>{schedule.status_reason}</span>}
          <Plan cron={schedule.cron} />
          <span>{schedule.time_zone}</span>
          {schedule.next_at !== undefined && <Until at={schedule.next_at} before="next" />}
        </p>
      </Heading>
      {error !== undefined && <ProblemNote error={error} />}
      {open === 'edit' && (
        <ScheduleForm schedule={schedule} onClose={() => setOpen(undefined)} onSaved={onChange} />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${schedule.name}?`}
          action="Delete"
          onConfirm={async () => {
            await client.schedules.delete(schedule.id);
            navigate(addressOf('schedules', { tenant: tenantId }));
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>No more runs start. Runs that have already started continue.</p>
        </Confirm>
      )}
    </>
  );
}

function Fires({ schedule }: { readonly schedule: ScheduleRecord }): JSX.Element {
  const { client, tenantId } = useTenant();
  const list = usePages<ScheduleFire>(
    [schedule.id, schedule.last_slot_at],
    (cursor) => client.schedules.fires(schedule.id, { limit: 50, cursor }).page(),
    ({ slot_at: at }) => at,
  );
  return (
    <PagedTable
      label="Past runs"
      list={list}
      idOf={({ slot_at: at }) => at}
      columns={[
        { title: 'Outcome', cell: (fire) => <Status of={fire.outcome} /> },
        { title: 'Scheduled for', class: 'nowrap', cell: (fire) => <Time at={fire.slot_at} /> },
        {
          title: 'Run',
          class: 'clip wide-cell',
          cell: (fire) =>
            fire.run_id === undefined ? (
              <span class="muted">{reasonOf(fire.code)}</span>
            ) : (
              <a
                class="row-link clip"
                data-row
                href={addressOf('run', { tenant: tenantId, run: fire.run_id })}
              >
                <code>{fire.run_id}</code>
              </a>
            ),
        },
      ]}
      empty={
        <Empty title="No runs yet.">
          <span>Each scheduled time appears here with the run it started.</span>
        </Empty>
      }
    />
  );
}

function reasonOf(code: string | undefined): string {
  if (code === 'missed') return 'missed: the server was down';
  if (code === 'overlap') return 'skipped: the last run was still active';
  return code ?? '';
}

function Next({ schedule }: { readonly schedule: ScheduleRecord }): JSX.Element {
  const { client, tenantId } = useTenant();
  const times = useResource(
    `${tenantId}/preview/${schedule.id}/${schedule.cron}/${schedule.time_zone}`,
    () => client.schedules.preview(schedule.id, { count: 6 }),
  );
  return (
    <Card title="Next runs" aside={<span class="muted small">{schedule.time_zone}</span>}>
      <div class="card-body">
        <Await resource={times}>
          {(all) =>
            all.length === 0 ? (
              <p class="muted">This schedule has no future runs.</p>
            ) : (
              <ol class="stack tight">
                {all.map((at) => (
                  <li key={at} title={exact(at, settings.timeZone.value)}>
                    {inZone(at, schedule.time_zone, Date.now())}
                  </li>
                ))}
              </ol>
            )
          }
        </Await>
      </div>
    </Card>
  );
}

function About({ schedule }: { readonly schedule: ScheduleRecord }): JSX.Element {
  const { tenantId } = useTenant();
  const { session } = schedule;
  return (
    <Card title="Each run">
      <dl class="facts card-body">
        <dt>Agent</dt>
        <dd>
          <a href={addressOf('agent', { tenant: tenantId, agent: schedule.agent_name })}>
            {schedule.agent_name}
          </a>
        </dd>
        <dt>Input</dt>
        <dd>
          <JsonTree value={schedule.input} name="input" />
        </dd>
        <dt>Session</dt>
        <dd>
          {session.session_id === undefined ? (
            session.mode === 'new' ? (
              'New for each run'
            ) : (
              'Shared, created by the first run'
            )
          ) : (
            <a href={addressOf('session', { tenant: tenantId, session: session.session_id })}>
              Shared by all runs
            </a>
          )}
        </dd>
        <dt>Overlap</dt>
        <dd>{schedule.overlap === 'skip' ? 'Skip' : 'Start another run'}</dd>
        <dt>Missed</dt>
        <dd>{schedule.missed === 'once' ? 'Run once for the latest missed time' : 'Skip'}</dd>
        {Object.keys(schedule.labels).length > 0 && (
          <>
            <dt>Labels</dt>
            <dd>
              <Labels of={schedule.labels} list="runs" />
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}
