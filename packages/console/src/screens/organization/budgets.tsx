import type { BudgetRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { number, short } from '../../data/formats.ts';
import type { RouteParams } from '../../data/routes.ts';
import { money } from '../../data/usage.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { type Column, PagedTable } from '../../parts/list/table.tsx';
import { Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Until } from '../../parts/time.tsx';
import { session } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { usePages, useTitle } from '../../session/use.ts';
import { BudgetForm } from './budget-form.tsx';

/** Ceilings for tenants, clients, agents and sessions, with the used part of each. */
export function BudgetsScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Budgets');
  const { budgets } = organizationClient(org);
  const [edited, setEdited] = useState<BudgetRecord | 'None yet' | undefined>(undefined);
  const [deleted, setDeleted] = useState<BudgetRecord | undefined>(undefined);
  const list = usePages(
    [org],
    (cursor) => budgets.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  return (
    <>
      <Heading
        title="Budgets"
        actions={
          <Button kind="primary" onClick={() => setEdited('None yet')}>
            Create budget
          </Button>
        }
      >
        <p class="muted">
          When a budget is used up, active runs stop at their next usage report and new runs are
          refused until the next period.
        </p>
      </Heading>
      <PagedTable
        label="Budgets"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor({ onEdit: setEdited, onDelete: setDeleted })}
        empty={
          <Empty title="No budgets yet.">
            <span>Without a budget, only the limits in agent.yaml apply.</span>
          </Empty>
        }
      />
      {edited !== undefined && (
        <BudgetForm
          org={org}
          budget={edited === 'None yet' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => list.refresh()}
        />
      )}
      {deleted !== undefined && (
        <Confirm
          title={`Delete the budget for ${deleted.scope.id}?`}
          action="Delete"
          onConfirm={async () => {
            await budgets.delete(deleted.id);
            await list.refresh();
          }}
          onClose={() => setDeleted(undefined)}
        >
          <p>The limit is removed and its usage is reset.</p>
        </Confirm>
      )}
    </>
  );
}

interface Acts {
  readonly onEdit: (budget: BudgetRecord) => void;
  readonly onDelete: (budget: BudgetRecord) => void;
}

function columnsFor({ onEdit, onDelete }: Acts): readonly Column<BudgetRecord>[] {
  return [
    {
      title: 'Budget',
      class: 'wide-cell',
      cell: (budget) => (
        <div class="stack tight">
          <span class="breaks" title={budget.scope.id}>
            {budget.scope.kind} <Named scope={budget.scope} />
          </span>
          <Used budget={budget} />
        </div>
      ),
    },
    {
      title: 'Resets',
      optional: true,
      class: 'muted',
      cell: ({ resets_at: at }) => (at === undefined ? 'never' : <Until at={at} before="" />),
    },
    {
      title: 'Actions',
      class: 'number nowrap',
      cell: (budget) => (
        <span class="buttons end">
          <Button size="small" kind="quiet" onClick={() => onEdit(budget)}>
            Edit
          </Button>
          <Button size="small" kind="quiet" onClick={() => onDelete(budget)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
}

const eachOf = { day: 'per day', month: 'per month', total: 'in total' } as const;

/** A tenant of this person by its name, anything else by its id. */
function Named({ scope }: Pick<BudgetRecord, 'scope'>): JSX.Element {
  const state = session.value;
  const known =
    state.kind === 'in'
      ? state.workspaces.find(({ tenant }) => tenant.tenant_id === scope.id)
      : undefined;
  if (known === undefined) return <code>{scope.id}</code>;
  return <>{known.tenant.display_name}</>;
}

/** The share of the ceiling that is nearest. */
function Used({ budget }: { readonly budget: BudgetRecord }): JSX.Element {
  const { spent, max_tokens: tokens, max_cost: cost, currency = '' } = budget;
  const shares = [
    ...(tokens === undefined ? [] : [spent.tokens / tokens]),
    ...(cost === undefined ? [] : [spent.cost / cost]),
  ];
  const share = Math.max(0, ...shares);
  const words = [
    ...(tokens === undefined ? [] : [`${short(spent.tokens)} of ${short(tokens)} tokens`]),
    ...(cost === undefined ? [] : [`${money(spent.cost, currency)} of ${money(cost, currency)}`]),
  ];
  const state = share >= 1 ? 'full' : share >= 0.8 ? 'near' : '';
  return (
    <div class="stack tight" title={`${number(share * 100)} %`}>
      <span class="muted small">{`${words.join(' · ')} ${eachOf[budget.period]}`}</span>
      <div class="meter">
        <span class={state} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </div>
    </div>
  );
}
