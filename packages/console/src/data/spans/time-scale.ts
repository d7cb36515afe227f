import type { Spans } from './spans.ts';

/** Maps a time to a share of the width (0 to 1). */
export interface TimeScale {
  readonly x: (at: number) => number;
  /** Gaps that are drawn broken, with their place and how long they really were. */
  readonly breaks: readonly { readonly from: number; readonly to: number; readonly ms: number }[];
  readonly ticks: readonly Tick[];
}

/** A mark on the axis. */
export interface Tick {
  readonly x: number;
  readonly label: number;
  /** Whether its words have room on a narrow screen. */
  readonly fitsNarrow: boolean;
}

/** Width of a broken gap. */
const breakShare = 0.12;

/** Long waits are drawn short, so that seconds of work stay readable beside hours of waiting. */
export function timeScale({ from, to, gaps, executedMs }: Spans): TimeScale {
  const threshold = Math.max(400, executedMs / 4);
  // Beside no work, nothing has to stay readable: the queue of a run that has not started is drawn whole.
  const long = executedMs === 0 ? [] : gaps.filter((gap) => gap.to - gap.from > threshold);
  const whole = Math.max(1, to - from);
  const broken = long.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const share = long.length === 0 ? 0 : Math.min(breakShare, 0.5 / long.length);
  const perMs = (1 - share * long.length) / Math.max(1, whole - broken);
  const x = (at: number): number => {
    let position = (Math.min(Math.max(at, from), to) - from) * perMs;
    for (const gap of long) {
      const inside = Math.min(Math.max(at - gap.from, 0), gap.to - gap.from);
      position += inside * (share / (gap.to - gap.from) - perMs);
    }
    return position;
  };
  const breaks = long.map((gap) => ({ from: x(gap.from), to: x(gap.to), ms: gap.to - gap.from }));
  return { x, breaks, ticks: ticksOf({ from, to, x, breaks }) };
}

interface Axis {
  readonly from: number;
  readonly to: number;
  readonly x: (at: number) => number;
  readonly breaks: TimeScale['breaks'];
}

/** Room for the words of a mark before a break begins. */
const labelShare = 0.06;

/**
 * On a narrow screen: the distance between two marks, the width of their words, and the last place where these have
 * room.
 */
const narrow = { gap: 0.28, label: 0.16, last: 0.84 };

/** At most about six marks, at round distances, none inside a break and none too close to another. */
function ticksOf({ from, to, x, breaks }: Axis): Tick[] {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000,
  ];
  const hours = [
    120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000,
  ];
  const visibleMs = breaks.reduce((sum, gap) => sum - gap.ms, to - from);
  const step = [...steps, ...hours].find((size) => visibleMs / size <= 6) ?? 7 * 86_400_000;
  const ticks: Tick[] = [];
  let lastNarrow = -1;
  const count = Math.min(5000, Math.floor((to - from) / step));
  for (let index = 0; index <= count; index += 1) {
    const place = x(from + index * step);
    const isBroken = breaks.some((gap) => place > gap.from - labelShare && place < gap.to + 0.01);
    const isClose = ticks.length > 0 && place - (ticks.at(-1)?.x ?? 0) < 0.09;
    // The words of a break at the very beginning stand where the first mark would.
    const isFirst = index === 0 && breaks[0]?.from !== 0;
    if ((!isBroken && !isClose && place < 0.97) || isFirst) {
      const isBeside = breaks.some((gap) => place < gap.to && place + narrow.label > gap.from);
      const fitsNarrow = !isBeside && place - lastNarrow >= narrow.gap && place <= narrow.last;
      if (fitsNarrow) lastNarrow = place;
      ticks.push({ x: place, label: index * step, fitsNarrow });
    }
  }
  return ticks;
}

/** Shares of the width that a duration needs: in its bar, also beside an open event, and in a free part of the lane. */
const roomInside = 0.12;
const roomBeside = 0.08;
/** The same on a phone. */
const roomInsideNarrow = 0.17;
const roomBesideNarrow = 0.16;

/** Where a bar says how long it took: in itself, or in the free part of its lane that a narrow bar has beside it. */
export function durationPlace(
  width: number,
  { before, after }: { readonly before: number; readonly after: number },
): 'inside' | 'after' | 'before' {
  if (width >= roomInside) return 'inside';
  if (after >= roomBesideNarrow) return 'after';
  if (before >= roomBesideNarrow) return 'before';
  if (after >= roomBeside) return 'after';
  return before >= roomBeside ? 'before' : 'inside';
}

/** Whether a phone has no place for it: the bar is too narrow, and other bars are on both sides. */
export function isSilentOnPhone(width: number, room: Parameters<typeof durationPlace>[1]): boolean {
  return (
    width < roomInsideNarrow &&
    durationPlace(width, room) === 'inside' &&
    phoneDurationPlace(room) === undefined
  );
}

/** Where it says so on a phone, if the bar is too narrow there: only where no other bar would cover it. */
export function phoneDurationPlace(room: {
  readonly before: number;
  readonly after: number;
}): 'after' | 'before' | undefined {
  if (room.after >= roomBesideNarrow) return 'after';
  return room.before >= roomBesideNarrow ? 'before' : undefined;
}
