import type { TenantRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm, FormDialog, useAction } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import type { Column } from '../../parts/list/table.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/tenant-clients.ts';
import { readWorkspacesAgain, refreshWorkspaces } from '../../session/workspaces.ts';
import { usePages } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';

/** While a tenant is setting up or removed, the list is read again after this time. */
const lookAgainMs = 1000;

export function TenantsScreen({ org = '' }: RouteParams): JSX.Element {
  const { tenants } = organizationClient(org);
  const [leaving, setLeaving] = useState<TenantRecord | undefined>(undefined);
  const list = usePages(
    [org],
    (cursor) => tenants.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  const rows = list.rows.value;
  const error = list.error.value;
  const changed = async () => {
    await list.refresh();
    await refreshWorkspaces();
  };
  useEffect(readWorkspacesAgain, [org]);
  useEffect(() => {
    if (rows?.some(isUnderWay) !== true) return;
    const timer = setTimeout(() => inBackground(changed().catch(() => undefined)), lookAgainMs);
    return () => clearTimeout(timer);
  }, [rows, error]);
  const retry = async (tenant: TenantRecord) => {
    await tenants.retry(tenant.id);
    await changed();
  };
  return (
    <>
      <ListScreen
        title="Tenants"
        about="Isolated workspaces, each with its own sessions and files."
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor({ onRetry: retry, onLeave: setLeaving })}
        empty={
          <Empty title="No tenants yet.">
            <span>Agents run in a tenant. Create one to start.</span>
          </Empty>
        }
        create={{
          label: 'Create tenant',
          form: (close) => <CreateTenant org={org} onClose={close} onDone={changed} />,
        }}
      />
      {leaving !== undefined && (
        <Confirm
          title={`Offboard ${leaving.display_name}?`}
          action="Delete permanently"
          typed={leaving.id}
          onConfirm={async () => {
            await tenants.offboard(leaving.id, { confirm: leaving.id });
            await changed();
          }}
          onClose={() => setLeaving(undefined)}
        >
          <p>All its sessions, runs, files and events will be deleted. This can’t be undone.</p>
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
          <a class="row-link clip" data-row href={addressOf('home', { tenant: tenant.id })}>
            {tenant.display_name}
          </a>
        ) : (
          tenant.display_name
        ),
    },
    { title: 'ID', optional: true, cell: (tenant) => <code class="muted">{tenant.id}</code> },
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

/** Whether the server will change the tenant without being asked. No notice tells of it: feeds are of tenants. */
function isUnderWay({ status }: TenantRecord): boolean {
  return status === 'provisioning' || status === 'offboarding';
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
  const create = async () => {
    const { tenants } = organizationClient(props.org);
    await tenants.create({ display_name: name.trim(), mode: 'saas' });
    await props.onDone();
  };
  return (
    <FormDialog
      title="Create tenant"
      action="Create"
      isReady={name.trim() !== ''}
      onSubmit={create}
      onClose={props.onClose}
    >
      <TextField label="Name" value={name} onInput={setName} required autofocus max={100} />
      <p class="muted small">
        Automation clients that aren’t bound to a tenant can access it as soon as it is ready.
      </p>
    </FormDialog>
  );
}
