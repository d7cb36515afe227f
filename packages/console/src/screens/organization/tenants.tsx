import type { TenantRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../../data/formats.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm, Dialog, useAction } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Heading } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient, refreshWorkspaces } from '../../session/session.ts';
import { usePages, useTitle } from '../../session/use.ts';

/** A tenant that is being set up is asked for again after this time. */
const settleMs = 1500;

export function TenantsScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Tenants');
  const { tenants } = organizationClient(org);
  const [isCreating, setCreating] = useState(false);
  const [leaving, setLeaving] = useState<TenantRecord | undefined>(undefined);
  const list = usePages(
    [org],
    (cursor) => tenants.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  const changed = async () => {
    await list.refresh();
    await refreshWorkspaces();
    setTimeout(() => {
      void list.refresh();
      void refreshWorkspaces();
    }, settleMs);
  };
  const retry = async (tenant: TenantRecord) => {
    await tenants.retry(tenant.id);
    await changed();
  };
  return (
    <>
      <Heading
        title="Tenants"
        actions={
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a tenant
          </Button>
        }
      >
        <p class="muted">
          Separate parts of the organization, each with its own sessions and files.
        </p>
      </Heading>
      <PagedTable
        label="Tenants"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor({ onRetry: retry, onLeave: setLeaving })}
        empty={<Empty title="No tenants yet." />}
      />
      {isCreating && <CreateTenant org={org} onClose={() => setCreating(false)} onDone={changed} />}
      {leaving !== undefined && (
        <Confirm
          title={`Offboard ${visible(leaving.display_name)}?`}
          action="Offboard for good"
          typed={leaving.id}
          onConfirm={async () => {
            await tenants.offboard(leaving.id, { confirm: leaving.id });
            await changed();
          }}
          onClose={() => setLeaving(undefined)}
        >
          <p>All its sessions, runs, files and events are deleted. This cannot be taken back.</p>
        </Confirm>
      )}
    </>
  );
}

interface TenantActs {
  readonly onRetry: (tenant: TenantRecord) => Promise<void>;
  readonly onLeave: (tenant: TenantRecord) => void;
}

function columnsFor(acts: TenantActs): readonly Column<TenantRecord>[] {
  return [
    { title: 'Status', cell: (tenant) => <Status of={statusOf(tenant)} /> },
    {
      title: 'Name',
      class: 'clip wide-cell',
      cell: (tenant) =>
        statusOf(tenant) === 'active' ? (
          <a class="open clip" href={addressOf('home', { tenant: tenant.id })}>
            {visible(tenant.display_name)}
          </a>
        ) : (
          visible(tenant.display_name)
        ),
    },
    { title: 'Id', optional: true, cell: (tenant) => <code class="muted">{tenant.id}</code> },
    {
      title: 'Created',
      optional: true,
      class: 'muted',
      cell: (tenant) => <Time at={tenant.created_at} />,
    },
    {
      title: 'Actions',
      class: 'number nowrap',
      cell: (tenant) => (
        <TenantActions
          tenant={tenant}
          onRetry={() => acts.onRetry(tenant)}
          onLeave={() => acts.onLeave(tenant)}
        />
      ),
    },
  ];
}

function statusOf({ status, attachment_state: attachment }: TenantRecord): string {
  return status === 'active' && attachment !== 'ready' ? attachment : status;
}

function TenantActions(props: {
  readonly tenant: TenantRecord;
  readonly onRetry: () => Promise<void>;
  readonly onLeave: () => void;
}): JSX.Element {
  const { tenant } = props;
  const retry = useAction(props.onRetry);
  return (
    <span class="buttons end">
      {retry.error !== undefined && <ProblemNote error={retry.error} />}
      {tenant.status === 'failed' && (
        <Button size="small" onClick={retry.run} disabled={retry.isBusy}>
          Retry
        </Button>
      )}
      {(tenant.status === 'active' || tenant.status === 'failed') && (
        <Button size="small" kind="quiet" onClick={props.onLeave}>
          Offboard
        </Button>
      )}
    </span>
  );
}

function CreateTenant(props: {
  readonly org: string;
  readonly onClose: () => void;
  readonly onDone: () => Promise<void>;
}): JSX.Element {
  const [name, setName] = useState('');
  const create = useAction(async () => {
    const { tenants } = organizationClient(props.org);
    await tenants.create({ display_name: name.trim(), mode: 'saas' });
    await props.onDone();
    props.onClose();
  });
  return (
    <Dialog title="Create a tenant" onClose={props.onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <TextField label="Name" value={name} onInput={setName} required autofocus max={100} />
        <p class="muted small">
          Automation clients that are bound to no tenant can access it as soon as it is ready.
        </p>
        {create.error !== undefined && <ProblemNote error={create.error} />}
        <div class="buttons end">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={create.isBusy || name.trim() === ''}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
