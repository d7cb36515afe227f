import type { BudgetRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { number, short, visible } from '../../data/formats.ts';
import type { RouteParams } from '../../data/routes.ts';
import { money } from '../../data/usage.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { type Column, PagedTable } from '../../parts/list/table.tsx';
import { Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Until } from '../../parts/time.tsx';
import { organizationClient, session } from '../../session/session.ts';
import { usePages, useTitle } from '../../session/use.ts';
import { BudgetForm } from './budget-form.tsx';

/** Ceilings for tenants, clients, agents and sessions, with what was used of each. */
export function BudgetsScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Budgets');
  const { budgets } = organizationClient(org);
  const [edited, setEdited] = useState<BudgetRecord | 'none yet' | undefined>(undefined);
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
          <Button kind="primary" onClick={() => setEdited('none yet')}>
            Set a budget
          </Button>
        }
      >
        <p class="muted">
          When a budget is used up, running work stops at its next report, and new runs are refused
          until the next period.
        </p>
      </Heading>
      <PagedTable
        label="Budgets"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor({ onEdit: setEdited, onDelete: setDeleted })}
        empty={
          <Empty title="No budgets yet.">
            <span>Without a budget, only the limits in the agents’ files apply.</span>
          </Empty>
        }
      />
      {edited !== undefined && (
        <BudgetForm
          org={org}
          budget={edited === 'none yet' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => list.refresh()}
        />
      )}
      {deleted !== undefined && (
        <Confirm
          title={`Delete the budget of ${visible(deleted.scope.id)}?`}
          action="Delete"
          onConfirm={async () => {
            await budgets.delete(deleted.id);
            await list.refresh();
          }}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its ceilings no longer hold, and what was used of it is forgotten.</p>
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
          <span class="breaks" title={visible(budget.scope.id)}>
            {budget.scope.kind} <Named scope={budget.scope} />
          </span>
          <Used budget={budget} />
        </div>
      ),
    },
    {
      title: 'Starts again',
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
            Change
          </Button>
          <Button size="small" kind="quiet" onClick={() => onDelete(budget)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
}

const eachOf = { day: 'a day', month: 'a month', total: 'in all' } as const;

/** A tenant of this person by its name, anything else by its id. */
function Named({ scope }: Pick<BudgetRecord, 'scope'>): JSX.Element {
  const state = session.value;
  const known =
    state.kind === 'in'
      ? state.workspaces.find(({ tenant }) => tenant.tenant_id === scope.id)
      : undefined;
  if (known === undefined) return <code>{visible(scope.id)}</code>;
  return <>{visible(known.tenant.display_name)}</>;
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
