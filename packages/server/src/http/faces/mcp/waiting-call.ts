import type { TenantId } from '@convoke/contract';
import { type AskItem, type McpRun, isOffered, resultOf } from '@convoke/faces';
import { mayAllowIn } from '../../../app/faces/caller.ts';
import type { Allower } from '../../../domain/rules/approvers.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { Topic } from '../../../ports/fanout.ts';
import { allowerOf } from '../../actor.ts';
import type { Closing, StreamReader } from '../../streams/event-streams.ts';
import { CallStream, type StreamPlaces } from './call-stream.ts';
import type { AskingMeans } from './capabilities.ts';
import type { RpcId } from './failure.ts';
import { type McpCaller, askedOf, topicOfAsk, topicOfCall } from './leaving.ts';
import { elicitationOf } from './rounds.ts';
import type { StreamPlace } from './stream-place.ts';
import {
  type LiveForms,
  type WaitParts,
  type WaitedRun,
  type Waiting,
  waitForRun,
  waitedRun,
} from './waiting.ts';

export interface WaitingParts extends WaitParts {
  /** The page of a run in the console; undefined without a console. */
  readonly linkTo: (run: Pick<Run, 'tenantId' | 'id'>) => string | undefined;
}

/** A call whose run is known. */
export interface BegunCall {
  readonly run: Run;
  readonly ms: number;
  readonly endsAtAsk: boolean;
  /** The user has declined to answer here. */
  readonly isLeft: boolean;
  /** The user has opened the link of this interaction. */
  readonly opened: string | undefined;
}

export interface Answering {
  readonly caller: McpCaller;
  readonly rpcId: RpcId;
  readonly isOld: boolean;
  readonly means: AskingMeans;
  /** Adds the fields that the era of the client requires to a result. */
  readonly wrap: (result: object) => object;
  readonly progressToken?: RpcId | undefined;
}

/** A response to the newer era is sent this long before the token expires: its clients cannot resume. */
const beforeExpiryMs = 1_000;

/**
 * A call while it waits. Thousands may wait for an hour, so it keeps what its response needs, and neither its request
 * nor its caller nor the row of its run (D-960).
 */
export class WaitingCall implements Waiting<void>, LiveForms, StreamPlaces {
  readonly run: WaitedRun;
  readonly ms: number;
  readonly endsAtAsk: boolean;
  readonly left: Topic | undefined;
  readonly asked: string | undefined;
  readonly #parts: WaitingParts;
  readonly #rpcId: RpcId;
  readonly #isOld: boolean;
  readonly #isLeft: boolean;
  readonly #means: AskingMeans;
  readonly #wrap: Answering['wrap'];
  readonly #progressToken: RpcId | undefined;
  readonly #tenantId: TenantId;
  readonly #createdBy: string | null;
  readonly #allower: Allower;
  #closing: Closing | undefined;
  #stream: CallStream | undefined;
  #result: object | undefined;
  /** The call has waited for long enough: there is a response, though its run may continue. */
  #isOver = false;

  constructor(
    parts: WaitingParts,
    { caller, rpcId, isOld, means, wrap, progressToken }: Answering,
    { run, ms, endsAtAsk, isLeft, opened }: BegunCall,
  ) {
    const lastsMs = caller.caller.tokenExpiresAt - parts.clock.now() - beforeExpiryMs;
    this.run = waitedRun(run);
    this.ms = isOld ? ms : Math.max(Math.min(ms, lastsMs), 0);
    this.endsAtAsk = endsAtAsk;
    this.left = isOld ? topicOfCall(caller, rpcId) : undefined;
    this.asked = opened;
    this.#parts = parts;
    this.#rpcId = rpcId;
    this.#isOld = isOld;
    this.#isLeft = isLeft;
    this.#means = means;
    this.#wrap = wrap;
    this.#progressToken = progressToken;
    this.#tenantId = run.tenantId;
    this.#allower = allowerOf(caller.caller);
    // Mostly the same: then one string is enough.
    const { id } = this.#allower;
    this.#createdBy = run.createdBy === id ? id : run.createdBy;
  }

  /** Answers in a stream, in which the user is asked as well. */
  stream({ take, closing }: Pick<StreamReader, 'take' | 'closing'>): Promise<void> {
    this.#stream = new CallStream(take, this);
    return this.wait(closing);
  }

  /** Without a stream, the response is the result. */
  get result(): object | undefined {
    return this.#result;
  }

  async answer(state: McpRun): Promise<void> {
    // A stream that ends without a response is resumed.
    const isCut = this.#closing?.signal.aborted === true && !this.#isOver;
    if (isCut && this.#stream !== undefined) return;
    this.#result = this.#resultOf(state);
    await this.#stream?.end({ jsonrpc: '2.0', id: this.#rpcId, result: this.#result });
  }

  placeWith(asked = this.asked): StreamPlace | undefined {
    const [rpcId, means] = [this.#rpcId, this.#means];
    return this.#isOld ? { runId: this.run.runId, rpcId, means, asked } : undefined;
  }

  /** Waits until there is something to answer. Aborts `closing` itself when the time is over. */
  wait(closing: Closing): Promise<void> {
    this.#closing = closing;
    return waitForRun(this.#parts, this, closing.signal);
  }

  end(): void {
    this.#isOver ||= this.#closing?.signal.aborted === false;
    this.#closing?.abort();
  }

  get forms(): LiveForms {
    return this;
  }

  get onProgress(): Waiting<void>['onProgress'] {
    const [token, stream] = [this.#progressToken, this.#stream];
    if (stream === undefined || token === undefined) return undefined;
    return (count) => stream.tell(token, count);
  }

  #resultOf({ state }: McpRun): object {
    const { runId, asks, text, outcome } = state;
    const oldest = asks.find((ask) => this.isOffered(ask));
    if (!this.#isOld && !this.#isLeft && outcome === undefined && oldest !== undefined) {
      // The others follow, so that no answer is lost with one that is not given.
      const params = elicitationOf(oldest, text, this.#asking);
      if (params !== undefined) {
        const inputRequests = { [oldest.key]: { method: 'elicitation/create', params } };
        return this.#wrap({ resultType: 'input_required', inputRequests, requestState: runId });
      }
    }
    return this.#wrap(resultOf(state, this.#asking.link));
  }

  /** What other people decide on is only told: to its user it is no form and no link (D-220). */
  isOffered(ask: AskItem): boolean {
    return isOffered(ask, mayAllowIn({ createdBy: this.#createdBy }, this.#allower));
  }

  topicOf(key: string): Topic {
    return topicOfAsk({ tenantId: this.#tenantId }, key);
  }

  show(ask: AskItem, said: string): boolean {
    const params = this.#isOld ? elicitationOf(ask, said, this.#asking) : undefined;
    if (params === undefined || this.#stream === undefined) return false;
    this.#stream.ask({ id: askedOf(this.run, ask.key), key: ask.key, params });
    return true;
  }

  withdraw(key: string): void {
    this.#stream?.withdraw(askedOf(this.run, key));
  }

  get #asking() {
    const link = this.#parts.linkTo({ tenantId: this.#tenantId, id: this.run.runId });
    return { means: this.#means, link };
  }
}
