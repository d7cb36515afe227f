import { type OrganizationId, limits } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import { type ApplicationCaller, type Standing, decisionKey } from '../../domain/access.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Fanout } from '../../ports/fanout.ts';
import type { Log } from '../../ports/log.ts';

/**
 * Open streams of one process, of one organization in it, of one client or person, and of the tokens of one session.
 * Above any of them, a reader is refused with Retry-After (D-244, D-200).
 */
export interface StreamCaps {
  readonly inAll: number;
  /** A quarter of all: one organization, with all its clients, leaves places for the others. */
  readonly perOrganization: number;
  readonly perClient: number;
}
const defaultCaps: StreamCaps = { inAll: 10_000, perOrganization: 2_500, perClient: 2_000 };
/** Not a cap of the deployment: it is for a page, whose streams take no place of its backend. */
const perSession = limits.streamsPerSession;

export interface AdmissionOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** `defaultCaps` when absent. */
  readonly caps?: StreamCaps | undefined;
  readonly fanout: Fanout;
  /** Whether the caller still has access (D-33). */
  readonly recheck: (caller: ApplicationCaller) => Promise<Standing>;
}

interface Closable {
  readonly openedAt: number;
  readonly closing: AbortController;
}

/** Streams whose access is one decision: it is made once for all of them, and they end with the same token. */
interface Admission<Stream extends Closable> {
  readonly key: string;
  readonly caller: ApplicationCaller;
  readonly streams: Map<number, Stream>;
  readonly cancelExpiry: () => void;
}

/** The streams of one client or person. Their access is rechecked at once when some of it was revoked. */
interface CallerStreams<Stream extends Closable> {
  readonly admissions: Map<string, Admission<Stream>>;
  readonly unsubscribe: () => void;
  size: number;
}

/** The open streams by caller: how many there are, and whether they still have access. */
export class AdmittedStreams<Stream extends Closable> {
  readonly #options: AdmissionOptions;
  readonly #callers = new Map<string, CallerStreams<Stream>>();
  readonly #sizes = new Map<OrganizationId, number>();
  #size = 0;
  #added = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Refuses a stream above the caps. Returns what removes it again. */
  add(caller: ApplicationCaller, stream: Stream): () => void {
    const { subject, organizationId } = caller;
    if (this.#isFull(caller)) {
      refuse('rate_limited', { message: 'Too many open streams.', retryAfterSeconds: 5 });
    }
    const own = this.#callers.get(subject) ?? this.#watch(caller);
    const admission = this.#admission(own, caller);
    const number = (this.#added += 1);
    admission.streams.set(number, stream);
    own.size += 1;
    this.#sizes.set(organizationId, (this.#sizes.get(organizationId) ?? 0) + 1);
    this.#size += 1;
    return () => this.#remove(number, admission);
  }

  #isFull({ subject, organizationId, session }: ApplicationCaller): boolean {
    const { inAll, perOrganization, perClient } = this.#options.caps ?? defaultCaps;
    if (this.#size >= inAll) return true;
    if ((this.#sizes.get(organizationId) ?? 0) >= perOrganization) return true;
    const perCaller = session === undefined ? perClient : Math.min(perClient, perSession);
    return (this.#callers.get(subject)?.size ?? 0) >= perCaller;
  }

  #remove(number: number, { key, caller, streams, cancelExpiry }: Admission<Stream>): void {
    const own = this.#callers.get(caller.subject);
    if (own === undefined || !streams.delete(number)) return;
    own.size -= 1;
    this.#size -= 1;
    const left = (this.#sizes.get(caller.organizationId) ?? 0) - 1;
    if (left > 0) this.#sizes.set(caller.organizationId, left);
    else this.#sizes.delete(caller.organizationId);
    if (streams.size > 0) return;
    cancelExpiry();
    if (own.admissions.get(key)?.streams === streams) own.admissions.delete(key);
    if (own.size > 0) return;
    own.unsubscribe();
    this.#callers.delete(caller.subject);
  }

  forEach(visit: (stream: Stream) => void): void {
    for (const { admissions } of this.#callers.values()) {
      for (const { streams } of admissions.values()) {
        for (const stream of streams.values()) visit(stream);
      }
    }
  }

  /** Closes the streams of every caller that lost its access. */
  recheck(): void {
    for (const { admissions } of this.#callers.values()) this.#recheck(admissions);
  }

  /** A client that loses access wakes the streams of its sessions' tokens, too: the topic is the actor's (D-200). */
  #watch({ actor, subject }: ApplicationCaller): CallerStreams<Stream> {
    const admissions = new Map<string, Admission<Stream>>();
    const onWake = () => this.#recheck(admissions);
    const unsubscribe = this.#options.fanout.subscribe(`access:${actor.id}`, onWake);
    const own = { admissions, unsubscribe, size: 0 };
    this.#callers.set(subject, own);
    return own;
  }

  #admission({ admissions }: CallerStreams<Stream>, caller: ApplicationCaller): Admission<Stream> {
    const key = decisionKey(caller);
    const known = admissions.get(key);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const streams = new Map<number, Stream>();
    const lastsMs = Math.max(caller.tokenExpiresAt - clock.now(), 0);
    const cancelExpiry = clock.after(lastsMs, () => {
      // A stream that is added now gets a timer of its own.
      admissions.delete(key);
      close(streams.values());
    });
    const admission = { key, caller, streams, cancelExpiry };
    admissions.set(key, admission);
    return admission;
  }

  #recheck(admissions: CallerStreams<Stream>['admissions']): void {
    for (const { caller, streams } of admissions.values()) {
      this.#options.recheck(caller).then(
        ({ hasAccess, revokedAt }) => {
          if (!hasAccess) close(streams.values());
          else if (revokedAt !== undefined) close(openedUntil(revokedAt, streams.values()));
        },
        // While the storage is unavailable nothing can be revoked either; the next pulse checks again.
        (error: unknown) => this.#options.log.error('event stream recheck failed', error),
      );
    }
  }
}

/** A stream that was opened after the revocation ends with its token, until which requests are admitted (spec §5.7). */
function openedUntil<Stream extends Closable>(time: number, streams: Iterable<Stream>): Stream[] {
  return Array.from(streams).filter(({ openedAt }) => openedAt <= time);
}

function close(streams: Iterable<Closable>): void {
  for (const { closing } of streams) closing.abort();
}
