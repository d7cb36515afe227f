import type { WebhookRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { plural } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import { addressOf } from '../data/routes.ts';
import type { Column } from '../parts/list/table.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { usePages, useRight, useTenant } from '../session/use.ts';
import { ListScreen } from './list-screen.tsx';
import { useSecretOnce } from './secret-once.tsx';
import { WebhookForm } from './webhook-form.tsx';

export function WebhooksScreen(): JSX.Element {
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('webhooks:write');
  const secret = useSecretOnce('CONVOKE_WEBHOOK_SECRET');
  const list = usePages(
    [tenantId],
    (cursor) => client.webhooks.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  useRefreshOnNotice(
    ({ type }) => type === 'webhook_disabled',
    () => list.refresh(),
  );
  return (
    <ListScreen
      title="Webhooks"
      about="Send signed events to your own endpoint."
      list={list}
      idOf={({ id }) => id}
      columns={columnsFor(tenantId)}
      empty={
        <Empty title="No webhooks yet.">
          <span>A webhook notifies your program when runs wait, complete or fail.</span>
        </Empty>
      }
      create={{
        label: 'Create webhook',
        isAllowed: mayWrite,
        form: (close) => (
          <WebhookForm
            onClose={close}
            onCreated={(issued) => {
              secret.show({ secret: issued });
              inBackground(list.refresh());
            }}
          />
        ),
      }}
    >
      {secret.element}
    </ListScreen>
  );
}

function columnsFor(tenant: string): readonly Column<WebhookRecord>[] {
  return [
    {
      title: 'Status',
      cell: ({ status, failing_since: failing }) =>
        status === 'active' && failing !== undefined ? (
          <Status of="failed" label="failing" />
        ) : (
          <Status of={status} />
        ),
    },
    {
      title: 'URL',
      class: 'clip wide-cell',
      cell: (webhook) => (
        <a
          class="row-link clip"
          data-row
          href={addressOf('webhook', { tenant, webhook: webhook.id })}
        >
          {webhook.url}
        </a>
      ),
    },
    {
      title: 'Events',
      optional: true,
      class: 'nowrap',
      cell: ({ types }) => (types.includes('*') ? 'all' : plural(types.length, 'type')),
    },
    {
      title: 'Last success',
      optional: true,
      class: 'muted',
      cell: ({ last_success_at: at }) => (at === undefined ? 'None yet' : <Time at={at} />),
    },
  ];
}
