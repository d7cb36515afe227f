import type { TenantId } from '@convoke/contract';
import type { Clock } from '../../ports/clock.ts';

/** Of one tenant, on one server. */
const togetherMax = 2;
/** Further ones wait for their turn, in order. */
const waitingMax = 256;
export const turnMs = 10_000;

interface Turns {
  underWay: number;
  readonly waiting: Set<(isMine: boolean) => void>;
}

/**
 * The requests to token endpoints that this process has under way: two at a time for a tenant, so that its slow
 * services hold few of the server's connections (D-609). The process finishes them before it ends: a lost refresh ends
 * its account.
 */
export class TokenRequests {
  readonly #clock: Clock;
  readonly #tenants = new Map<TenantId, Turns>();
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `request` in its turn. Returns `late` when the turn does not come in time: then nothing was done. */
  async inTurn<Result, Late>(
    tenantId: TenantId,
    { request, late }: { readonly request: () => Promise<Result>; readonly late: Late },
  ): Promise<Result | Late> {
    const turns = this.#tenants.get(tenantId) ?? { underWay: 0, waiting: new Set() };
    this.#tenants.set(tenantId, turns);
    if (!(await this.#turn(turns))) return late;
    try {
      return this.#isClosed ? late : await this.#tracked(request());
    } finally {
      this.#endTurn(tenantId, turns);
    }
  }

  /** Begins no further request, and waits for those under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { waiting } of this.#tenants.values()) for (const stop of waiting) stop(false);
    await Promise.allSettled(this.#underWay);
  }

  async #tracked<Result>(sent: Promise<Result>): Promise<Result> {
    this.#underWay.add(sent);
    try {
      return await sent;
    } finally {
      this.#underWay.delete(sent);
    }
  }

  async #turn(turns: Turns): Promise<boolean> {
    if (this.#isClosed) return false;
    if (turns.underWay < togetherMax) {
      turns.underWay += 1;
      return true;
    }
    if (turns.waiting.size >= waitingMax) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (isMine: boolean) => {
      turns.waiting.delete(settle);
      resolve(isMine);
    };
    turns.waiting.add(settle);
    const cancelTimer = this.#clock.after(turnMs, () => settle(false));
    try {
      return await promise;
    } finally {
      cancelTimer();
    }
  }

  #endTurn(tenantId: TenantId, turns: Turns): void {
    const [next] = turns.waiting;
    // The turn goes from one to the next.
    if (next !== undefined) return next(true);
    turns.underWay -= 1;
    if (turns.underWay === 0) this.#tenants.delete(tenantId);
  }
}
