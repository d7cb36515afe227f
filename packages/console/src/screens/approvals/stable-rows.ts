import { useEffect, useRef, useState } from 'preact/hooks';
import type { InteractionSummary } from '../../session/api.ts';

/** Keeps the rows where they are: new ones wait, answered ones stay in their place, dimmed. */
export function useStableRows(rows: readonly InteractionSummary[] | undefined, status: string) {
  const [shown, setShown] = useState<readonly InteractionSummary[] | undefined>(undefined);
  const kept = useRef(status);
  const isOther = kept.current !== status;
  useEffect(() => {
    if (rows === undefined) return;
    if (shown === undefined || isOther || shown.length === 0) {
      kept.current = status;
      setShown(rows);
      return;
    }
    // A page that was asked for by the person joins at once.
    if (status !== 'pending') setShown(rows);
  }, [rows, status]);
  const known = new Set((shown ?? []).map(({ interaction_key: key }) => key));
  const present = new Set((rows ?? []).map(({ interaction_key: key }) => key));
  const added = (rows ?? []).filter(({ interaction_key: key }) => !known.has(key));
  const gone = new Set(
    status === 'pending' && rows !== undefined ? [...known].filter((key) => !present.has(key)) : [],
  );
  const admit = () => {
    setShown([...(shown ?? []).filter(({ interaction_key: key }) => !gone.has(key)), ...added]);
  };
  return { rows: isOther ? rows : shown, gone, fresh: isOther ? 0 : added.length, admit };
}
