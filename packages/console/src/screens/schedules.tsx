import type { ScheduleSummary } from '@convoke/sdk';
import type { JSX } from 'preact';
import { addressOf } from '../data/routes.ts';
import { Plan } from '../parts/input/schedule-times.tsx';
import type { Column } from '../parts/list/table.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Until } from '../parts/time.tsx';
import { usePages, useRight, useTenant } from '../session/use.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { navigate } from '../page/router.ts';
import { ListScreen } from './list-screen.tsx';
import { ScheduleForm } from './schedule-form.tsx';

export function SchedulesScreen(): JSX.Element {
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('schedules:write');
  const list = usePages(
    [tenantId],
    (cursor) => client.schedules.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('schedule_') || type === 'run_queued',
    () => list.refresh(),
  );
  return (
    <ListScreen
      title="Schedules"
      about="Start runs on a schedule."
      list={list}
      idOf={({ id }) => id}
      columns={columnsFor(tenantId)}
      empty={
        <Empty title="No schedules yet.">
          <span>A schedule runs an agent at set times, such as every weekday at 09:00.</span>
        </Empty>
      }
      create={{
        label: 'Create schedule',
        isAllowed: mayWrite,
        form: (close) => (
          <ScheduleForm
            onClose={close}
            onSaved={({ id }) =>
              navigate(addressOf('schedule', { tenant: tenantId, schedule: id }))
            }
          />
        ),
      }}
    />
  );
}

function columnsFor(tenant: string): readonly Column<ScheduleSummary>[] {
  return [
    { title: 'Status', cell: (schedule) => <Status of={schedule.status} /> },
    {
      title: 'Name',
      class: 'clip wide-cell',
      cell: (schedule) => (
        <a
          class="row-link clip"
          data-row
          href={addressOf('schedule', { tenant, schedule: schedule.id })}
        >
          {schedule.name}
          {schedule.next_at !== undefined && (
            <span class="small-only muted small">
              <Until at={schedule.next_at} before="next" />
            </span>
          )}
        </a>
      ),
    },
    { title: 'Agent', class: 'nowrap', cell: (schedule) => schedule.agent_name },
    {
      title: 'Schedule',
      optional: true,
      class: 'nowrap',
      cell: (schedule) => (
        <>
          <Plan cron={schedule.cron} /> <span class="muted small">{schedule.time_zone}</span>
        </>
      ),
    },
    {
      title: 'Next',
      optional: true,
      class: 'muted',
      cell: (schedule) =>
        schedule.next_at === undefined ? '' : <Until at={schedule.next_at} before="" />,
    },
  ];
}
