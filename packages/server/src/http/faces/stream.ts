import type { ServerResponse } from 'node:http';
import type { TranscriptEvent } from '@convoke/faces';
import { eventsOf } from '../../app/faces/history.ts';
import { type EventBatch, RunFollower } from '../../app/runs/follow.ts';
import type { RunLog } from '../../app/runs/run-log.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Run } from '../../domain/run/run.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import type { RawReply } from '../handler.ts';
import type { EventStreams, StreamReader } from '../streams/event-streams.ts';
import { Frames } from '../streams/frames.ts';

/** Follows runs for readers of every face: a batch is parsed once, however many of them there are (D-194). */
export type FaceFollower = RunFollower<readonly TranscriptEvent[]>;

export function createFaceFollower(
  services: ConstructorParameters<typeof RunFollower>[0],
): FaceFollower {
  return new RunFollower(services, eventsOf);
}

/**
 * Text of the `text/event-stream` format. Where it may be long, it comes frame by frame: each is made when it is
 * written.
 */
export type FaceText = string | Iterable<string>;

/** The content of one response of a face. */
export interface FaceEncoder {
  readonly start: () => FaceText;
  /** `isFollowed` says that more events are there: what they may change need not be said yet. */
  readonly take: (event: TranscriptEvent, isFollowed: boolean) => FaceText;
  /** There are no more events for now. */
  readonly pause: () => FaceText;
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
  readonly instead: readonly TranscriptEvent[] | undefined;
  /** Fields of the run's row that the encoder needs before it gets the last event. */
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
          await take(ownFrames(text, true));
        },
      }),
  };
}

/** Frames of a face that stand for no event of a log; `ended` with the last ones. */
export function ownFrames(text: string, ended: boolean): EventBatch<Frames> {
  return { ...nothing, rendered: new Frames(text), ended };
}

async function followFace(
  follower: FaceFollower,
  face: FaceResponse,
  { take, signal, response }: StreamReader & { readonly response: ServerResponse },
): Promise<void> {
  const { run, encoder, atEnd } = face;
  const isDone = () => encoder.isOver() || encoder.mustCut();
  const write = ({ text, isLast }: Piece, batch = nothing) =>
    take({ ...batch, rendered: new Frames(text), ended: isLast && encoder.isOver() });
  const writeRest = async (pieces: Iterable<Piece>, busy: ReturnType<typeof write>) => {
    if ((await busy) === false) return false;
    for (const piece of pieces) {
      // A reader that takes everything at once must not hold the others up.
      await nextTurn();
      if (signal.aborted || (await write(piece)) === false) return false;
    }
    return !isDone();
  };
  /** Writes the first piece at once: most batches have one. */
  const give = (texts: Iterable<FaceText>, batch = nothing) => {
    const pieces = piecesOf(texts);
    const { value: first } = pieces.next();
    const busy = first && write(first, batch);
    if (first?.isLast === false) return writeRest(pieces, busy);
    return isDone() ? (busy ?? Promise.resolve(true)).then(() => false) : busy;
  };
  const begun = give(beginningOf(face));
  if (begun !== undefined && !(await begun)) return;
  const encode = (batch: EventBatch<readonly TranscriptEvent[]>) => {
    // A page of the past does not end with what is pending now.
    const isNow = !batch.isCut && batch.lastSeq >= run.lastSeq;
    return give(textsOf(encoder, batch.rendered, isNow), batch);
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
  // Clients treat a clean close as the end of the message. Break the connection instead, so that they resume.
  if (!encoder.isOver()) response.destroy();
}

function* beginningOf({ encoder, instead = [] }: FaceResponse): Generator<FaceText> {
  yield encoder.start();
  for (const event of instead) yield encoder.take(event, true);
}

function* textsOf(
  encoder: FaceEncoder,
  events: readonly TranscriptEvent[],
  isNow: boolean,
): Generator<FaceText> {
  const last = events.at(-1);
  for (const event of events) yield encoder.take(event, event !== last || !isNow);
  if (isNow) yield encoder.pause();
}

/** What is written at once, of at least one frame. */
interface Piece {
  readonly text: string;
  readonly isLast: boolean;
}

/** As much as a page of a log has, so that a reader of a face costs no more memory than one of events (D-33). */
const pieceCharacters = 128 * 1024;

function* piecesOf(texts: Iterable<FaceText>): Generator<Piece, undefined> {
  let text = '';
  for (const frames of texts) {
    for (const frame of typeof frames === 'string' ? [frames] : frames) {
      if (text !== '' && text.length + frame.length > pieceCharacters) {
        yield { text, isLast: false };
        text = '';
      }
      text += frame;
    }
  }
  if (text !== '') yield { text, isLast: true };
}

/**
 * The row of a run that has ended, read once for all readers of its last batch: the native ones wait behind this work.
 */
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
