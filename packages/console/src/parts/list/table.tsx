import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { PagedList } from '../../data/pages.ts';
import { settings } from '../../page/settings.ts';
import { useShortcuts } from '../../page/shortcuts.ts';
import { Button } from '../button.tsx';
import { ProblemNote } from '../problem.tsx';
import { LoadBar, Skeleton } from '../states.tsx';
import { RowCheckbox, type Selection, selectByKey } from './selection.tsx';

export interface Column<T> {
  readonly title: string;
  /** Hidden where there is no room: up to 800 px, on all but wide screens, or only on a small one. */
  readonly optional?: boolean | 'wide' | 'small' | undefined;
  readonly class?: string | undefined;
  readonly cell: (row: T) => ComponentChildren;
}

/** Rows that can be selected, with a box in front of each. */
export interface Selectable<T extends object> {
  readonly selection: Selection<T>;
  /** The name of the row, for screen readers. */
  readonly nameOf: (row: T) => string;
  /** The effect of the box above the rows. */
  readonly all: string;
}

interface TableProps<T extends object> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly idOf: (row: T) => string;
  readonly selectable?: Selectable<T> | undefined;
}

/** A list with all its states: first visit, empty, full, more, and an error that leaves the rows where they are. */
export function PagedTable<T extends object>(
  props: TableProps<T> & {
    readonly list: PagedList<T>;
    readonly empty: ComponentChildren;
    /** Below the rows: what can be done with those that are selected. */
    readonly children?: ComponentChildren;
  },
): JSX.Element {
  const { list } = props;
  const error = list.error.value;
  const { rows, isOld } = useLastRows(list);
  return (
    <div class="card" aria-busy={isOld ? 'true' : undefined}>
      <LoadBar on={list.isLoading.value && rows !== undefined} />
      {error !== undefined && (
        <div class="card-body">
          <ProblemNote error={error} retry={() => list.refresh()} />
        </div>
      )}
      {rows === undefined && error === undefined && <Skeleton />}
      {rows !== undefined && rows.length === 0 && error === undefined && props.empty}
      {rows !== undefined && rows.length > 0 && <Table {...props} rows={rows} />}
      {list.hasMore.value && (
        <div class="list-more">
          <Button
            kind="quiet"
            size="small"
            onClick={() => list.more()}
            disabled={list.isLoading.value}
          >
            More
          </Button>
        </div>
      )}
      {props.children}
    </div>
  );
}

/** After a change of filters the rows from before stay until the new ones are here. */
function useLastRows<T extends object>(list: PagedList<T>) {
  const last = useRef<readonly T[]>([]);
  const rows = list.rows.value;
  if (rows !== undefined) last.current = rows;
  const isOld = rows === undefined && list.error.value === undefined && last.current.length > 0;
  return { rows: isOld ? last.current : rows, isOld };
}

export function Table<T extends object>(
  props: TableProps<T> & { readonly rows: readonly T[] },
): JSX.Element {
  const { idOf, selectable } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body);
  const press = (event: KeyboardEvent) => {
    moveInRows(event, body.current);
    if (selectable !== undefined) selectByKey(event, selectable.selection);
  };
  return (
    <div class="table-scroll">
      <table class="table" aria-label={props.label}>
        <thead>
          <tr>
            {selectable !== undefined && <SelectAllCell {...selectable} />}
            {props.columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={press} onClick={openRow}>
          {props.rows.map((row) => (
            <tr key={idOf(row)} data-key={idOf(row)}>
              {selectable !== undefined && <SelectCell of={selectable} row={row} id={idOf(row)} />}
              {props.columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SelectAllCell<T extends object>({ selection, all }: Selectable<T>): JSX.Element {
  const { selected, most } = selection;
  const isAll = most > 0 && selected.length === most;
  return (
    <td class="checkbox-cell">
      <RowCheckbox
        name={all}
        isSelected={isAll}
        onToggle={isAll ? selection.clear : selection.selectAll}
        disabled={most === 0}
      />
    </td>
  );
}

function SelectCell<T extends object>(props: {
  readonly of: Selectable<T>;
  readonly row: T;
  readonly id: string;
}): JSX.Element {
  const { selection, nameOf } = props.of;
  return (
    <td class="checkbox-cell">
      {selection.accepts(props.id) && (
        <RowCheckbox
          name={`Select ${nameOf(props.row)}`}
          isSelected={selection.has(props.id)}
          onToggle={() => selection.toggle(props.id)}
        />
      )}
    </td>
  );
}

function classOf<T>(column: Column<T>): string {
  const { optional = false } = column;
  const hidden = optional === true ? 'optional' : optional === false ? '' : `optional-${optional}`;
  return `${column.class ?? ''} ${hidden}`.trim();
}

/** A click anywhere in a row opens it, unless it was meant for something in the row, or selected text. */
function openRow(event: MouseEvent): void {
  const { target } = event;
  if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (target.closest('a, button, input, label, select, summary') !== null) return;
  if (getSelection()?.isCollapsed === false) return;
  target.closest('tr')?.querySelector<HTMLElement>(rowLinks)?.click();
}

/** From anywhere on the screen, `j` and `k` go to the first row of the list. */
export function useRowKeys(frame: { readonly current: HTMLElement | null }): void {
  const first = () => frame.current?.querySelector<HTMLElement>(rowLinks)?.focus();
  useShortcuts({ j: first, k: first });
}

/** The link or button of a row that opens it. */
const rowLinks = '[data-row]';

/** `j`, `k` and the arrows move between the links of the rows. */
export function moveInRows(event: KeyboardEvent, frame: HTMLElement | null): void {
  const step = stepOf(event);
  if (step === 0 || frame === null) return;
  const links = [...frame.querySelectorAll<HTMLElement>(rowLinks)];
  const at = links.findIndex((link) => link.contains(document.activeElement));
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  event.preventDefault();
}

function stepOf(event: KeyboardEvent): number {
  if (event.ctrlKey || event.metaKey || event.altKey) return 0;
  if (event.target instanceof HTMLElement && event.target.matches('input, textarea, select'))
    return 0;
  const isLetter = settings.hasShortcuts.value;
  if (event.key === 'ArrowDown' || (isLetter && event.key === 'j')) return 1;
  if (event.key === 'ArrowUp' || (isLetter && event.key === 'k')) return -1;
  return 0;
}
