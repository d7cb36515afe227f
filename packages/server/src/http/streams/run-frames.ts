import { type EventNames, formatEventId } from '@convoke/contract';
import { RunFollower } from '../../app/runs/follow.ts';
import type { RunEvent } from '../../domain/run/run-event.ts';
import { Frames } from './frames.ts';

/** Follow runs with frames that name their event and without: readers of one form share its tails. */
export type RunFollowers = Readonly<Record<EventNames, RunFollower<Frames>>>;

export function createRunFollowers(
  services: ConstructorParameters<typeof RunFollower>[0],
): RunFollowers {
  return {
    on: new RunFollower(services, renderFrames),
    off: new RunFollower(services, renderUnnamedFrames),
  };
}

/** Renders events as frames of the `text/event-stream` format (spec §6.2). */
export function renderFrames(events: readonly RunEvent[]): Frames {
  let text = '';
  for (const { seq, type, body } of events) {
    text += `id: ${formatEventId(seq)}\nevent: ${type}\ndata: ${body}\n\n`;
  }
  return new Frames(text);
}

/** For an EventSource, which gives events without a name to one listener. */
function renderUnnamedFrames(events: readonly RunEvent[]): Frames {
  let text = '';
  for (const { seq, body } of events) text += `id: ${formatEventId(seq)}\ndata: ${body}\n\n`;
  return new Frames(text);
}
