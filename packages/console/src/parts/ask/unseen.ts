import { useLayoutEffect, useState } from 'preact/hooks';
import { plural } from '../../data/formats.ts';

/** What of an input was never in view. */
export interface UnseenPart {
  /** Entries of long lists that are folded. */
  readonly rows: number;
  /** How many windows high the rest is. */
  readonly screens: number;
}

const nothing: UnseenPart = { rows: 0, screens: 0 };
/** The input is watched in strips of this height. */
const stripPx = 40;

interface WatchedInput {
  /** All of the input. */
  readonly input: { readonly current: HTMLElement | null };
  /** What covers its end while it is scrolled. */
  readonly bar: { readonly current: HTMLElement | null };
}

/** Remembers which strips of the input were in view, since the request of this key was opened. */
export function useUnseen({ input, bar }: WatchedInput, key: string): UnseenPart {
  const [unseen, setUnseen] = useState(nothing);
  useLayoutEffect(() => {
    const [box, cover] = [input.current, bar.current];
    const scroller = box?.closest<HTMLElement>('[data-scroller]');
    if (box === null || scroller === null || scroller === undefined) return;
    const seen = new Set<number>();
    const look = () => {
      const next = stripsSeen({ box, cover, scroller }, seen);
      setUnseen((before) =>
        before.rows === next.rows && before.screens === next.screens ? before : next,
      );
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    sizes.observe(scroller);
    scroller.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      scroller.removeEventListener('scroll', look);
    };
  }, [key]);
  return unseen;
}

/** Adds the visible parts, and returns those that have not been in view yet. */
function stripsSeen(
  parts: {
    readonly box: HTMLElement;
    readonly cover: HTMLElement | null;
    readonly scroller: HTMLElement;
  },
  seen: Set<number>,
): UnseenPart {
  const view = parts.scroller.getBoundingClientRect();
  const box = parts.box.getBoundingClientRect();
  const end = Math.min(view.bottom, parts.cover?.getBoundingClientRect().top ?? view.bottom);
  const strips = Math.floor(box.height / stripPx);
  const last = Math.min(strips, Math.floor((end - box.top) / stripPx));
  for (let at = Math.max(0, Math.ceil((view.top - box.top) / stripPx)); at < last; at += 1) {
    seen.add(at);
  }
  const hidden = [...Array(strips).keys()].filter((at) => !seen.has(at)).length;
  const folded = [...parts.box.querySelectorAll<HTMLElement>('[data-folded]')];
  return {
    rows: folded.reduce((sum, { dataset }) => sum + Number(dataset['folded']), 0),
    screens: Math.ceil((hidden * stripPx) / Math.max(1, view.height)),
  };
}

/** `50 rows, 2 screens not seen`; nothing when all was. */
export function unseenWords({ rows, screens }: UnseenPart): string | undefined {
  const parts = [
    ...(rows > 0 ? [plural(rows, 'row')] : []),
    ...(screens > 0 ? [plural(screens, 'screen')] : []),
  ];
  return parts.length === 0 ? undefined : `${parts.join(', ')} not seen`;
}
