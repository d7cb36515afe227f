import { useEffect, useRef, useState } from 'preact/hooks';
import type { InteractionSummary } from '../../session/api.ts';

/**
 * Keeps the rows where they are: new ones wait, answered ones stay in their place, dimmed. Other filters are another
 * list: its rows replace those of the last one.
 */
export function useStableRows(
  rows: readonly InteractionSummary[] | undefined,
  { filters, isPending }: { readonly filters: string; readonly isPending: boolean },
) {
  const [shown, setShown] = useState<readonly InteractionSummary[] | undefined>(undefined);
  const kept = useRef(filters);
  const isOther = kept.current !== filters;
  useEffect(() => {
    if (rows === undefined) return;
    if (shown === undefined || isOther || shown.length === 0) {
      kept.current = filters;
      setShown(rows);
      return;
    }
    // A page that was asked for by the person joins at once.
    if (!isPending) setShown(rows);
  }, [rows, filters]);
  const known = new Set((shown ?? []).map(({ interaction_key: key }) => key));
  const present = new Set((rows ?? []).map(({ interaction_key: key }) => key));
  const added = (rows ?? []).filter(({ interaction_key: key }) => !known.has(key));
  const gone = new Set(
    isPending && rows !== undefined ? [...known].filter((key) => !present.has(key)) : [],
  );
  const admit = () => {
    setShown([...(shown ?? []).filter(({ interaction_key: key }) => !gone.has(key)), ...added]);
  };
  return { rows: isOther ? rows : shown, gone, fresh: isOther ? 0 : added.length, admit };
}
