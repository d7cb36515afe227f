import type { BudgetRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { session } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { ScopePicker } from './scope-picker.tsx';

const kinds = ['tenant', 'client', 'agent', 'session'] as const;
const periods = ['day', 'month', 'total'] as const;
const words = {
  tenant: 'A tenant',
  client: 'An automation client',
  agent: 'An agent',
  session: 'A session',
  day: 'Each day (UTC)',
  month: 'Each month (UTC)',
  total: 'In total',
} as const;
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
  const save = async () => {
    await organizationClient(org).budgets.set({
      scope: { kind: kinds.find((name) => name === kind) ?? 'tenant', id: id.trim() },
      period: periods.find((name) => name === period) ?? 'month',
      ...(tokens.trim() === '' ? {} : { max_tokens: Number(tokens) }),
      ...(cost.trim() === '' ? {} : { max_cost: Math.round(Number(cost) * micros) }),
      ...(budget === undefined ? {} : { version: budget.version }),
    });
    await onSaved();
  };
  const isNew = budget === undefined;
  return (
    <FormDialog
      title={isNew ? 'Create budget' : 'Edit budget'}
      action="Save"
      isReady={id.trim() !== '' && (tokens.trim() !== '' || cost.trim() !== '')}
      onSubmit={save}
      onClose={onClose}
    >
      {isNew && (
        <>
          <SelectField
            label="Applies to"
            value={kind}
            choices={choicesOf(kinds)}
            onChange={(value) => {
              setKind(value);
              setId('');
            }}
          />
          <ScopePicker org={org} kind={kind} value={id} onChange={setId} />
          <SelectField
            label="Period"
            value={period}
            choices={choicesOf(periods)}
            onChange={setPeriod}
          />
        </>
      )}
      <TextField label="Token limit" value={tokens} onInput={setTokens} isNumber />
      <TextField
        label={`Cost limit ${budget?.currency ?? ''}`.trim()}
        value={cost}
        onInput={setCost}
        hint="Requires a price for every model in this scope. Without one, limit tokens instead."
      />
    </FormDialog>
  );
}

function choicesOf(names: readonly (keyof typeof words)[]) {
  return names.map((value) => ({ value, label: words[value] }));
}

function firstTenant(org: string): string {
  const state = session.value;
  if (state.kind !== 'in') return '';
  const found = state.workspaces.find(({ organization_id: other }) => other === org);
  return found?.tenant.tenant_id ?? '';
}
