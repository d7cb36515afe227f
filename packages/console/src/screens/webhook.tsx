import type { WebhookDelivery, WebhookRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { deliveredName, webhookEvents } from '../data/events/event-names.ts';
import { number } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import { type RouteParams, addressOf } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { Confirm, useAction } from '../parts/dialog.tsx';
import { type Column, PagedTable } from '../parts/list/table.tsx';
import { Heading, Await } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Until } from '../parts/time.tsx';
import { announce } from '../parts/toast.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { usePages, useResource, useRight, useTenant, useTitle } from '../session/use.ts';
import { navigate } from '../page/router.ts';
import { useSecretOnce } from './secret-once.tsx';
import { DeliveryDialog } from './webhook-delivery.tsx';

export function WebhookScreen({ webhook: id = '' }: RouteParams): JSX.Element {
  const { client, tenantId } = useTenant();
  const found = useResource(`${tenantId}/webhook/${id}`, () => client.webhooks.get(id));
  const [tests, setTests] = useState(0);
  useRefreshOnNotice(
    ({ type }) => type === 'webhook_disabled',
    () => found.refresh(),
  );
  return (
    <Await resource={found} title="Webhook">
      {(webhook) => (
        <>
          <WebhookHeading
            webhook={webhook}
            onChange={(next) => found.set(next)}
            onTest={() => setTests((count) => count + 1)}
          />
          <Deliveries webhook={webhook} tests={tests} />
        </>
      )}
    </Await>
  );
}

function WebhookHeading(props: {
  readonly webhook: WebhookRecord;
  readonly onChange: (webhook: WebhookRecord) => void;
  readonly onTest: () => void;
}): JSX.Element {
  const { webhook, onChange, onTest } = props;
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('webhooks:write');
  const secret = useSecretOnce(
    'CONVOKE_WEBHOOK_SECRET',
    'The old secret keeps signing for 24 hours.',
  );
  const [isDeleting, setDeleting] = useState(false);
  useTitle(webhook.url);
  const rotate = useAction(async () => {
    const issued = await client.webhooks.rotate(webhook.id);
    secret.show({ secret: issued.secret });
    onChange(issued.webhook);
  });
  const check = useAction(async () => {
    await client.webhooks.test(webhook.id);
    onTest();
    announce('Test event sent.');
  });
  const error = rotate.error ?? check.error;
  return (
    <>
      <Heading
        title={webhook.url}
        actions={
          <>
            <Button onClick={check.run} isAllowed={mayWrite} disabled={check.isBusy}>
              Send test event
            </Button>
            <Button onClick={rotate.run} isAllowed={mayWrite} disabled={rotate.isBusy}>
              Rotate secret
            </Button>
            <Turn webhook={webhook} onChange={onChange} />
            <Button kind="danger" onClick={() => setDeleting(true)} isAllowed={mayWrite}>
              Delete
            </Button>
          </>
        }
      >
        <Facts webhook={webhook} />
      </Heading>
      {error !== undefined && <ProblemNote error={error} />}
      {secret.element}
      {isDeleting && (
        <Confirm
          title="Delete this webhook?"
          action="Delete"
          onConfirm={async () => {
            await client.webhooks.delete(webhook.id);
            navigate(addressOf('webhooks', { tenant: tenantId }));
          }}
          onClose={() => setDeleting(false)}
        >
          <p>Pending deliveries will be dropped.</p>
        </Confirm>
      )}
    </>
  );
}

function Turn(props: {
  readonly webhook: WebhookRecord;
  readonly onChange: (webhook: WebhookRecord) => void;
}): JSX.Element {
  const { webhook, onChange } = props;
  const { client } = useTenant();
  const mayWrite = useRight('webhooks:write');
  const isActive = webhook.status === 'active';
  const turn = useAction(async () => {
    const status = isActive ? 'disabled' : 'active';
    onChange(await client.webhooks.update(webhook.id, { version: webhook.version, status }));
  });
  return (
    <>
      <Button onClick={turn.run} isAllowed={mayWrite} disabled={turn.isBusy}>
        {isActive ? 'Disable' : 'Enable'}
      </Button>
      {turn.error !== undefined && <ProblemNote error={turn.error} />}
    </>
  );
}

function Facts({ webhook }: { readonly webhook: WebhookRecord }): JSX.Element {
  const { status, status_reason: reason, failing_since: failing, types } = webhook;
  return (
    <p class="summary-line">
      {status === 'active' && failing !== undefined ? (
        <span>
          <Status of="failed" label="failing" />
          <span class="failed">
            {' since '}
            <Time at={failing} />
          </span>
        </span>
      ) : (
        <Status of={status} />
      )}
      {reason !== undefined && <span>{reason}</span>}
      <span title={types.join(', ')}>
        {types.map((type) => (type === '*' ? 'All events' : webhookEvents[type])).join(', ')}
      </span>
      <span>
        secret <code>{`…${webhook.secret_hint}`}</code>
      </span>
      {webhook.description !== undefined && <span>{webhook.description}</span>}
    </p>
  );
}

/** How soon a delivery that is on its way is looked at again: the feed tells of runs, not of deliveries. */
const lookAgainMs = 1000;

function isUnderWay({ status, next_try_at: next }: WebhookDelivery): boolean {
  if (status === 'sending') return true;
  return status === 'pending' && (next === undefined || Date.parse(next) <= Date.now());
}

function Deliveries(props: {
  readonly webhook: WebhookRecord;
  /** Tests that were sent from here. */
  readonly tests: number;
}): JSX.Element {
  const { webhook, tests } = props;
  const { client } = useTenant();
  const mayWrite = useRight('webhooks:write');
  const list = usePages<WebhookDelivery>(
    [webhook.id],
    (cursor) => client.webhooks.deliveries(webhook.id, { limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  useRefreshOnNotice(
    () => true,
    () => list.refresh(),
  );
  const rows = list.rows.value;
  useEffect(() => {
    if (tests > 0) inBackground(list.refresh());
  }, [tests]);
  useEffect(() => {
    if (webhook.status !== 'active' || rows?.some(isUnderWay) !== true) return;
    const timer = setTimeout(() => inBackground(list.refresh()), lookAgainMs);
    return () => clearTimeout(timer);
  }, [rows, webhook.status]);
  const again = async (delivery: WebhookDelivery) => {
    await client.webhooks.redeliver(webhook.id, delivery.id);
    await list.refresh();
  };
  const [opened, setOpened] = useState<WebhookDelivery>();
  return (
    <>
      {opened !== undefined && (
        <DeliveryDialog delivery={opened} onClose={() => setOpened(undefined)} />
      )}
      <PagedTable
        label="Deliveries"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor(setOpened, mayWrite ? again : undefined)}
        empty={
          <Empty title="No deliveries yet.">
            <span>Send a test event, or start a run.</span>
          </Empty>
        }
      />
    </>
  );
}

function columnsFor(
  open: (delivery: WebhookDelivery) => void,
  again: ((delivery: WebhookDelivery) => Promise<void>) | undefined,
): readonly Column<WebhookDelivery>[] {
  return [
    { title: 'Status', cell: ({ status }) => <Status of={status} /> },
    {
      title: 'Event',
      class: 'nowrap',
      cell: (delivery) => (
        <button
          type="button"
          data-row
          class="button quiet small"
          title={delivery.type}
          onClick={() => open(delivery)}
        >
          {deliveredName(delivery.type)}
        </button>
      ),
    },
    {
      title: 'Response',
      class: 'clip wide-cell muted',
      cell: ({ response_status: status, error, response_excerpt: text, next_try_at: next }) => (
        <span class="clip">
          {[status, error, text]
            .filter((part) => part !== undefined)
            .map(String)
            .join(' · ')}
          {next !== undefined && (
            <>
              {' · '}
              <Until at={next} before="next attempt" />
            </>
          )}
        </span>
      ),
    },
    {
      title: 'Attempts',
      optional: true,
      class: 'number',
      cell: ({ tries }) => number(tries),
    },
    {
      title: 'When',
      optional: true,
      class: 'muted',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    {
      title: 'Resend',
      class: 'number',
      cell: (delivery) =>
        again !== undefined && (delivery.status === 'failed' || delivery.status === 'blocked') ? (
          <SendAgain act={() => again(delivery)} />
        ) : null,
    },
  ];
}

function SendAgain({ act }: { readonly act: () => Promise<void> }): JSX.Element {
  const { isBusy, error, run } = useAction(act);
  return (
    <>
      <Button size="small" kind="quiet" onClick={run} disabled={isBusy}>
        Resend
      </Button>
      {error !== undefined && <ProblemNote error={error} />}
    </>
  );
}
