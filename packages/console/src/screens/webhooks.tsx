import type { WebhookRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, useAction } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Heading } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { type Column, PagedTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { usePages, useRight, useTenant, useTitle } from '../session/use.ts';
import { SecretOnce } from './secret-once.tsx';

export function WebhooksScreen(): JSX.Element {
  useTitle('Webhooks');
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('webhooks:write');
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | undefined>(undefined);
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
    <>
      <Heading
        title="Webhooks"
        actions={
          <Button kind="primary" onClick={() => setCreating(true)} disabled={!mayWrite}>
            Create a webhook
          </Button>
        }
      >
        <p class="muted">What happens in the tenant, sent to an address of yours, signed.</p>
      </Heading>
      {secret !== undefined && (
        <SecretOnce
          secret={secret}
          name="CONVOKE_WEBHOOK_SECRET"
          onDone={() => setSecret(undefined)}
        />
      )}
      <PagedTable
        label="Webhooks"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor(tenantId)}
        empty={
          <Empty title="No webhooks yet.">
            <span>A webhook tells your own program about runs that wait, end or fail.</span>
          </Empty>
        }
      />
      {isCreating && (
        <CreateWebhook
          onClose={() => setCreating(false)}
          onCreated={(issued) => {
            setSecret(issued);
            void list.refresh();
          }}
        />
      )}
    </>
  );
}

function columnsFor(tenant: string): readonly Column<WebhookRecord>[] {
  return [
    {
      title: 'Status',
      cell: ({ status, failing_since: failing }) =>
        status === 'active' && failing !== undefined ? (
          <Status of="failed" words="failing" />
        ) : (
          <Status of={status} />
        ),
    },
    {
      title: 'Address',
      class: 'clip wide-cell',
      cell: (webhook) => (
        <a class="open clip" href={addressOf('webhook', { tenant, webhook: webhook.id })}>
          {visible(webhook.url)}
        </a>
      ),
    },
    {
      title: 'Notices',
      optional: true,
      class: 'nowrap',
      cell: ({ types }) => (types.includes('*') ? 'all' : `${types.length} types`),
    },
    {
      title: 'Last success',
      optional: true,
      class: 'muted',
      cell: ({ last_success_at: at }) => (at === undefined ? 'none yet' : <Time at={at} />),
    },
  ];
}

function CreateWebhook(props: {
  readonly onClose: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}): JSX.Element {
  const { client } = useTenant();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const create = useAction(async () => {
    const issued = await client.webhooks.create({
      url: url.trim(),
      types: ['*'],
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    });
    props.onCreated(issued.secret);
    props.onClose();
  });
  return (
    <Dialog title="Create a webhook" onClose={props.onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <TextField
          label="Address"
          value={url}
          onInput={setUrl}
          placeholder="https://example.com/convoke"
          autofocus
          hint="https, and reachable from the internet"
        />
        <TextField label="Description (optional)" value={description} onInput={setDescription} />
        {create.error !== undefined && <ProblemNote error={create.error} />}
        <div class="buttons end">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={create.isBusy || url.trim() === ''}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
