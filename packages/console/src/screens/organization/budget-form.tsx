import type { BudgetRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Dialog, useAction } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { organizationClient, session } from '../../session/session.ts';

const kinds = ['tenant', 'client', 'agent', 'session'] as const;
const periods = ['day', 'month', 'total'] as const;
const micros = 1_000_000;

export function BudgetForm(props: {
  readonly org: string;
  readonly budget: BudgetRecord | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}): JSX.Element {
  const { org, budget, onClose, onSaved } = props;
  const [kind, setKind] = useState<string>(budget?.scope.kind ?? 'tenant');
  const [id, setId] = useState(budget?.scope.id ?? firstTenant(org));
  const [period, setPeriod] = useState<string>(budget?.period ?? 'month');
  const [tokens, setTokens] = useState(String(budget?.max_tokens ?? ''));
  const [cost, setCost] = useState(
    budget?.max_cost === undefined ? '' : String(budget.max_cost / micros),
  );
  const save = useAction(async () => {
    await organizationClient(org).budgets.set({
      scope: { kind: kinds.find((name) => name === kind) ?? 'tenant', id: id.trim() },
      period: periods.find((name) => name === period) ?? 'month',
      ...(tokens.trim() === '' ? {} : { max_tokens: Number(tokens) }),
      ...(cost.trim() === '' ? {} : { max_cost: Math.round(Number(cost) * micros) }),
      ...(budget === undefined ? {} : { version: budget.version }),
    });
    await onSaved();
    onClose();
  });
  const isNew = budget === undefined;
  return (
    <Dialog title={isNew ? 'Set a budget' : 'Change the budget'} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
      >
        {isNew && (
          <>
            <SelectField label="For" value={kind} choices={choicesOf(kinds)} onChange={setKind} />
            <TextField label="Id, or name of the agent" value={id} onInput={setId} />
            <SelectField
              label="Each"
              value={period}
              choices={choicesOf(periods)}
              onChange={setPeriod}
            />
          </>
        )}
        <TextField label="At most this many tokens" value={tokens} onInput={setTokens} isNumber />
        <TextField
          label={`At most this cost ${budget?.currency ?? ''}`.trim()}
          value={cost}
          onInput={setCost}
          hint="Needs the prices of your models on the server."
        />
        {save.error !== undefined && <ProblemNote error={save.error} />}
        <div class="buttons end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={save.isBusy || (tokens.trim() === '' && cost.trim() === '')}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function choicesOf(names: readonly string[]) {
  return names.map((value) => ({ value, label: value }));
}

function firstTenant(org: string): string {
  const state = session.value;
  if (state.kind !== 'in') return '';
  const found = state.workspaces.find(({ organization_id: other }) => other === org);
  return found?.tenant.tenant_id ?? '';
}
