import type { ServerResponse } from 'node:http';
import type { TurnEvent } from '@convoke/contract';
import { type EventBatch, RunFollower } from '../../app/runs/follow.ts';
import type { RunLog } from '../../app/runs/run-log.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { RunEvent } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { RawReply } from '../handler.ts';
import type { EventStreams, StreamReader } from '../streams/event-streams.ts';
import { Frames } from '../streams/frames.ts';

/** Follows runs for readers of every face: a batch is parsed once, however many of them there are (D-194). */
export type FaceFollower = RunFollower<readonly TurnEvent[]>;

export function createFaceFollower(
  services: ConstructorParameters<typeof RunFollower>[0],
): FaceFollower {
  return new RunFollower(services, eventsOf);
}

export function eventsOf(events: readonly RunEvent[]): readonly TurnEvent[] {
  return events.map(({ body }) => JSON.parse(body) as TurnEvent);
}

/** What one response of a face says. Each method returns text of the `text/event-stream` format. */
export interface FaceEncoder {
  readonly start: () => string;
  readonly take: (event: TurnEvent) => string;
  /** There are no more events for now. */
  readonly pause: () => string;
  /** The response is complete. */
  readonly isOver: () => boolean;
  /** The reader shows what is void: its connection is cut, so that it reads everything again. */
  readonly mustCut: () => boolean;
}

export interface FaceParts {
  readonly follower: FaceFollower;
  readonly streams: EventStreams;
}

export interface FaceResponse {
  readonly caller: ApplicationCaller;
  readonly run: RunLog;
  readonly encoder: FaceEncoder;
  readonly headers: Readonly<Record<string, string>>;
  /** Stands for the events of a run whose log is gone. */
  readonly instead: readonly TurnEvent[] | undefined;
  /** What the encoder needs of the run's row before it gets the last event. */
  readonly atEnd?: {
    readonly read: () => Promise<Run>;
    readonly take: (run: Run) => void;
  };
}

/** Sends a run through the encoder of a face. A fault closes the stream without anything that means an end (D-193). */
export function sendFace({ follower, streams }: FaceParts, face: FaceResponse): RawReply {
  const { caller, headers } = face;
  return {
    write: (response, base) =>
      streams.send(response, {
        caller,
        headers: { ...base, ...headers },
        follow: (reader) => followFace(follower, face, { ...reader, response }),
      }),
  };
}

/** Sends a response that follows no run. */
export function sendWhole(
  { streams }: Pick<FaceParts, 'streams'>,
  { caller, headers, text }: Pick<FaceResponse, 'caller' | 'headers'> & { readonly text: string },
): RawReply {
  return {
    write: (response, base) =>
      streams.send(response, {
        caller,
        headers: { ...base, ...headers },
        follow: async ({ take }) => {
          await take({ ...nothing, rendered: new Frames(text), ended: true });
        },
      }),
  };
}

async function followFace(
  follower: FaceFollower,
  { run, encoder, instead, atEnd }: FaceResponse,
  { take, signal, response }: StreamReader & { readonly response: ServerResponse },
): Promise<void> {
  const give = (text: string, batch = nothing) => {
    const isDone = encoder.isOver() || encoder.mustCut();
    const rendered = new Frames(text);
    const busy = text === '' ? undefined : take({ ...batch, rendered, ended: encoder.isOver() });
    return isDone ? (busy ?? Promise.resolve(true)).then(() => false) : busy;
  };
  const first = encoder.start();
  const before = (instead ?? []).map(encoder.take).join('');
  const busy = give(`${first}${before}`);
  if (busy !== undefined && !(await busy)) return;
  const encode = (batch: EventBatch<readonly TurnEvent[]>) => {
    const text = batch.rendered.map(encoder.take).join('');
    // A page of the past does not end with what is pending now.
    const isNow = !batch.isCut && batch.lastSeq >= run.lastSeq;
    return give(isNow ? `${text}${encoder.pause()}` : text, batch);
  };
  await follower.follow({
    run,
    after: 0,
    signal,
    take: (batch) => {
      if (!batch.ended || atEnd === undefined) return encode(batch);
      return rowAtEnd(batch, atEnd.read).then((row) => {
        atEnd.take(row);
        return encode(batch) ?? true;
      });
    },
  });
  // A client takes a clean end for the end of the message: without one it has lost its connection, and resumes.
  if (!encoder.isOver()) response.destroy();
}

/** The row of a run that has ended, read once for all readers of its last batch: the native ones wait behind this work. */
function rowAtEnd(batch: object, read: () => Promise<Run>): Promise<Run> {
  const row = rows.get(batch) ?? read();
  rows.set(batch, row);
  return row;
}

const rows = new WeakMap<object, Promise<Run>>();

const nothing: Omit<EventBatch<unknown>, 'rendered'> = {
  after: 0,
  lastSeq: 0,
  ended: false,
  isCut: false,
};
