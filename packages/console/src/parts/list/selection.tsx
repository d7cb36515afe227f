import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { settings } from '../../page/settings.ts';
import { isInText, useShortcuts } from '../../page/shortcuts.ts';
import { Button } from '../button.tsx';

/** The rows of a list that a person has selected, to act on them together. */
export interface Selection<T extends object> {
  readonly selected: readonly T[];
  readonly has: (id: string) => boolean;
  /** Whether the row can be selected at this moment. */
  readonly accepts: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
  readonly drop: (ids: readonly string[]) => void;
  /** How many rows can be selected. */
  readonly most: number;
}

/** `open` are the rows that can be selected: one that leaves them, because it has ended, is selected no longer. */
export function useSelection<T extends object>(
  open: readonly T[],
  idOf: (row: T) => string,
): Selection<T> {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const ids = new Set(open.map(idOf));
  const without = (dropped: readonly string[]) =>
    new Set([...picked].filter((id) => !dropped.includes(id)));
  return {
    selected: open.filter((row) => picked.has(idOf(row))),
    has: (id) => picked.has(id),
    accepts: (id) => ids.has(id),
    toggle: (id) => setPicked(picked.has(id) ? without([id]) : new Set([...picked, id])),
    selectAll: () => setPicked(ids),
    clear: () => setPicked(new Set()),
    drop: (dropped) => setPicked(without(dropped)),
    most: ids.size,
  };
}

export function RowCheckbox(props: {
  /** The selection, for screen readers. */
  readonly name: string;
  readonly isSelected: boolean;
  readonly onToggle: () => void;
  readonly disabled?: boolean | undefined;
}): JSX.Element {
  return (
    <label class="row-checkbox">
      <input
        type="checkbox"
        aria-label={props.name}
        checked={props.isSelected}
        disabled={props.disabled}
        onChange={props.onToggle}
      />
    </label>
  );
}

/** Selects the row that has the focus, when `x` was pressed on it. Its element has the id in `data-key`. */
export function selectByKey<T extends object>(event: KeyboardEvent, selection: Selection<T>): void {
  if (event.key !== 'x' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!settings.hasShortcuts.value || !(event.target instanceof HTMLElement)) return;
  const id = event.target.closest<HTMLElement>('[data-key]')?.dataset['key'];
  if (id === undefined || !selection.accepts(id)) return;
  event.preventDefault();
  selection.toggle(id);
}

/** How many rows are selected, and what can be done with them: `.` does it, Escape selects none. */
export function SelectionBar<T extends object>(props: {
  readonly selection: Selection<T>;
  readonly action: string;
  readonly onAct: () => void;
}): JSX.Element | null {
  const { selection, onAct } = props;
  const count = selection.selected.length;
  const clear = () => {
    const { activeElement: active } = document;
    if (isInText(active)) active.blur();
    else selection.clear();
  };
  useShortcuts(count === 0 ? {} : { '.': onAct, Escape: clear });
  if (count === 0) return null;
  return (
    <div class="selection-bar">
      <span class="grow" role="status">{`${count} selected`}</span>
      <Button size="small" kind="quiet" onClick={selection.clear}>
        Clear
      </Button>
      <Button size="small" kind="danger" onClick={onAct}>
        {props.action} <kbd>.</kbd>
      </Button>
    </div>
  );
}

/** A list of the items that would change. */
export function SelectedList(props: { readonly children: ComponentChildren }): JSX.Element {
  return <ul class="selected">{props.children}</ul>;
}
