import type { JSX } from 'preact';
import { isLabel, labelInRow, labelTexts } from '../../data/labels.ts';
import { addressOf } from '../../data/routes.ts';
import { useTenant } from '../../session/use.ts';
import type { Column } from './table.tsx';
import { FilterText } from './filter-field.tsx';

type LabelValues = Readonly<Record<string, string>>;

/** As long as a key, the colon and a value can be together. */
const maxLabel = 321;

/** Labels of a row that fit beside its other cells; the run or session shows all of them. */
const maxInRow = 2;

/** The labels of a run or a session. Each leads to the list of what else has it. */
export function Labels(props: {
  readonly of: LabelValues;
  readonly list: 'runs' | 'sessions' | 'approvals';
}): JSX.Element | null {
  const { tenantId: tenant } = useTenant();
  const texts = labelTexts(props.of);
  if (texts.length === 0) return null;
  return (
    <ul class="tags" aria-label="Labels">
      {texts.map((label) => (
        <li key={label}>
          <a
            class="tag clip"
            title={`Show all with ${label}`}
            href={addressOf(props.list, { tenant }, { label })}
          >
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A column with labels; none where no row has one. */
export function labelColumns<T extends object>(
  rows: readonly T[] | undefined,
  labelsOf: (row: T) => LabelValues,
): readonly Column<T>[] {
  if (rows?.some((row) => labelTexts(labelsOf(row)).length > 0) !== true) return [];
  const cell = (row: T) => {
    const all = labelTexts(labelsOf(row));
    const more = all.length - maxInRow;
    return (
      <span class="tags in-row" title={all.join('\n')}>
        {all.slice(0, maxInRow).map((label) => (
          <span class="tag clip" key={label}>
            {labelInRow(label)}
          </span>
        ))}
        {more > 0 && <span class="muted small">{`+${more}`}</span>}
      </span>
    );
  };
  return [{ title: 'Labels', optional: true, cell }];
}

/** Filters a list by one label. The list stays as it is while the words are not a label yet. */
export function LabelFilter({ value }: { readonly value: string }): JSX.Element {
  return (
    <FilterText
      field="label"
      value={value}
      name="Label (key:value)"
      max={maxLabel}
      isWrong={value !== '' && !isLabel(value)}
    />
  );
}
