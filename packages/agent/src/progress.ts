import { OutputOrder, type Speaker } from './output-order.ts';
import { type Json, type JsonObject, NotJson, jsonCopy } from './json.ts';
import type {
  Emission,
  KitMessage,
  Point,
  SessionState,
  StartMessage,
  UsageEmission,
} from './lines.ts';
import { rootPath, stateBefore } from './replay.ts';

const stateBytesMax = 4 * 1024 * 1024;

/** What a leg has emitted and saved so far, and the recovery point that covers it: the session's checkpoint (D-177). */
export class Progress {
  readonly #send: (message: KitMessage) => void;
  readonly #usage = new UsageSums();
  #point: Omit<Point, 'said' | 'order'>;
  #order: Record<string, number>;
  #lastOrder: number;
  output: OutputOrder;
  /** Only `keep` makes recovery points, because the framework knows where it can continue (D-182). */
  hasOwnPoints = false;
  /** Usage since the last of these points. It is reported with the next one, so that it is charged once. */
  #used: UsageEmission[] = [];
  /** `ctx.state`, which the function changes. */
  readonly state: Record<string, unknown>;

  constructor(
    start: StartMessage,
    known: { readonly point: Point | undefined; readonly lastOrder: number },
    send: (message: KitMessage) => void,
  ) {
    this.#send = send;
    const base = known.point?.base ?? (stateBefore(start) as JsonObject | undefined) ?? {};
    const fresh: Point = { convoke: 1, run: start.run_id, base, said: 0, order: {} };
    const { said, order, ...point } = known.point ?? fresh;
    this.#point = point;
    this.#order = { ...order };
    this.#lastOrder = known.lastOrder;
    this.output = this.#newOutput(said);
    this.state = structuredClone(base);
  }

  get saved(): Json | undefined {
    return this.#point.saved?.value;
  }

  /** The prefix of step refs. */
  get path(): string {
    return rootPath(this.#point.saved?.number ?? 0);
  }

  say(emission: Emission, speaker?: Speaker): void {
    this.output.say(emission, speaker);
  }

  /** The next number in the order of results. */
  nextOrder(): number {
    this.#lastOrder += 1;
    return this.#lastOrder;
  }

  /** The number of an answer, or of a call that was left; undefined if it has none yet. */
  orderOf(ref: string): number | undefined {
    return this.#order[ref];
  }

  assignOrder(ref: string): void {
    this.#order[ref] = this.nextOrder();
  }

  save(progress: Json): void {
    const value = jsonCopy(progress, 'progress') as Json;
    const number = (this.#point.saved?.number ?? 0) + 1;
    const before = this.#point.before ?? this.#point.base;
    this.#point = { ...this.#point, base: this.stateNow(), before, saved: { number, value } };
    this.#order = {};
    this.output = this.#newOutput(0);
    this.#send({ type: 'checkpoint', state: this.point(), recovery: true });
  }

  /** Adds usage of a framework's task, which is reported with the next point. */
  use(used: UsageEmission): void {
    this.#used.push(used);
  }

  /**
   * Stores a checkpoint of a framework. The function is still replayed from its start, so names and emissions count on.
   */
  keep(checkpoint: Json): void {
    const value = jsonCopy(checkpoint, 'the checkpoint') as Json;
    this.#point = { ...this.#point, saved: { number: this.#point.saved?.number ?? 0, value } };
    const sums = new Map(this.#used.splice(0).map((used) => [used.model, this.#usage.add(used)]));
    const [last, ...others] = [...sums.values()].toReversed();
    for (const used of others) this.#send(used);
    if (last === undefined) this.#send({ type: 'checkpoint', state: this.point(), recovery: true });
    else this.#send({ ...last, point: this.point() });
  }

  point(): Point {
    return { ...this.#point, said: this.output.said, order: { ...this.#order } };
  }

  /** The state of the session after a run that did not complete: as it was before the run (L12, D-170). */
  get stateBefore(): SessionState {
    return { convoke: 1, state: this.#point.before ?? this.#point.base };
  }

  stateNow(): JsonObject {
    const copy = jsonCopy(this.state, 'ctx.state') as JsonObject;
    const bytes = Buffer.byteLength(JSON.stringify(copy));
    if (bytes <= stateBytesMax) return copy;
    const size = `${Math.ceil(bytes / 1024)} KiB; the limit is ${stateBytesMax / 1024} KiB`;
    throw new NotJson(`ctx.state has ${size}. Write a file and keep its name.`);
  }

  #newOutput(covered: number): OutputOrder {
    return new OutputOrder(covered, (emission, isBetweenSteps) => {
      const message = emission.type === 'usage' ? this.#usage.add(emission) : emission;
      // Text is discarded after a loss. Usage is not, so it is sent together with its point: nothing is charged twice.
      const hasPoint = isBetweenSteps && emission.type !== 'message_delta' && !this.hasOwnPoints;
      this.#send(hasPoint ? { ...message, point: this.point() } : message);
    });
  }
}

/** Adds up the usage of each model in this leg: the server expects sums. */
class UsageSums {
  readonly #sums = new Map<string | undefined, UsageEmission>();

  add(used: UsageEmission): UsageEmission {
    const before = this.#sums.get(used.model);
    const sum = before === undefined ? used : added(before, used);
    this.#sums.set(used.model, sum);
    return sum;
  }
}

function added(a: UsageEmission, b: UsageEmission): UsageEmission {
  const cost =
    a.cost === undefined && b.cost === undefined ? undefined : (a.cost ?? 0) + (b.cost ?? 0);
  return {
    ...a,
    ...b,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    ...(cost !== undefined && { cost }),
  };
}
