import type { ScheduleFire, ScheduleRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exact, inZone, visible } from '../data/formats.ts';
import { type RouteParams, addressOf } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { Confirm, useAction } from '../parts/dialog.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { PagedTable } from '../parts/list/table.tsx';
import { Card, Heading, Shown } from '../parts/page.tsx';
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
    <Shown of={found} title="Schedule">
      {(schedule) => (
        <>
          <ScheduleHeading schedule={schedule} onChange={(next) => found.set(next)} />
          <div class="two side">
            <Fires schedule={schedule} />
            <div class="stack">
              <Next schedule={schedule} />
              <About schedule={schedule} />
            </div>
          </div>
        </>
      )}
    </Shown>
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
        title={visible(schedule.name)}
        actions={
          <>
            <Button onClick={start.run} disabled={!mayWrite || start.isBusy}>
              Run now
            </Button>
            <Button onClick={turn.run} disabled={!mayWrite || turn.isBusy}>
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button onClick={() => setOpen('edit')} disabled={!mayWrite}>
              Change
            </Button>
            <Button kind="danger" onClick={() => setOpen('delete')} disabled={!mayWrite}>
              Delete
            </Button>
          </>
        }
      >
        <p class="summary-line">
          <Status of={schedule.status} />
          {schedule.status_reason !== undefined && <span>{visible(schedule.status_reason)}</span>}
          <code>{visible(schedule.cron)}</code>
          <span>{visible(schedule.time_zone)}</span>
          {schedule.next_at !== undefined && <Until at={schedule.next_at} before="next" />}
        </p>
      </Heading>
      {error !== undefined && <ProblemNote error={error} />}
      {open === 'edit' && (
        <ScheduleForm schedule={schedule} onClose={() => setOpen(undefined)} onSaved={onChange} />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${visible(schedule.name)}?`}
          action="Delete"
          onConfirm={async () => {
            await client.schedules.delete(schedule.id);
            navigate(addressOf('schedules', { tenant: tenantId }));
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>It starts no further run. Runs that it started go on.</p>
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
      label="What became of each time"
      list={list}
      idOf={({ slot_at: at }) => at}
      columns={[
        { title: 'Outcome', cell: (fire) => <Status of={fire.outcome} /> },
        { title: 'Planned for', class: 'nowrap', cell: (fire) => <Time at={fire.slot_at} /> },
        {
          title: 'Run',
          class: 'clip wide-cell',
          cell: (fire) =>
            fire.run_id === undefined ? (
              <span class="muted">{reasonOf(fire.code)}</span>
            ) : (
              <a class="open clip" href={addressOf('run', { tenant: tenantId, run: fire.run_id })}>
                <code>{fire.run_id}</code>
              </a>
            ),
        },
      ]}
      empty={
        <Empty title="No time of the plan has come yet.">
          <span>Each time appears here, with the run that it started.</span>
        </Empty>
      }
    />
  );
}

function reasonOf(code: string | undefined): string {
  if (code === 'missed') return 'the server was not there at that time';
  if (code === 'overlap') return 'the last run had not ended';
  return code ?? '';
}

function Next({ schedule }: { readonly schedule: ScheduleRecord }): JSX.Element {
  const { client, tenantId } = useTenant();
  const times = useResource(
    `${tenantId}/preview/${schedule.id}/${schedule.cron}/${schedule.time_zone}`,
    () => client.schedules.preview(schedule.id, { count: 6 }),
  );
  return (
    <Card title="Next times" aside={<span class="muted small">{visible(schedule.time_zone)}</span>}>
      <div class="body">
        <Shown of={times}>
          {(all) =>
            all.length === 0 ? (
              <p class="muted">The plan names no time in the future.</p>
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
        </Shown>
      </div>
    </Card>
  );
}

function About({ schedule }: { readonly schedule: ScheduleRecord }): JSX.Element {
  const { tenantId } = useTenant();
  const { session } = schedule;
  return (
    <Card title="Each run">
      <dl class="facts body">
        <dt>Agent</dt>
        <dd>
          <a href={addressOf('agent', { tenant: tenantId, agent: schedule.agent_name })}>
            {visible(schedule.agent_name)}
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
              'a new one each time'
            ) : (
              'one for all, made by the first run'
            )
          ) : (
            <a href={addressOf('session', { tenant: tenantId, session: session.session_id })}>
              one for all
            </a>
          )}
        </dd>
        <dt>Overlap</dt>
        <dd>{schedule.overlap === 'skip' ? 'skip' : 'start another run'}</dd>
        <dt>Missed</dt>
        <dd>{schedule.missed === 'once' ? 'one run for the newest missed time' : 'no run'}</dd>
      </dl>
    </Card>
  );
}
