// The moments of a run at which a test stops its server, and what holds a run there.

/** D-80, D-88: every moment between two durable steps of a leg, in their order. */
export const seats = [
  'before the prompt',
  'first delta',
  'in the text',
  'message complete, point not durable',
  'point durable',
  'intent written, not committed',
  'intent durable',
  'in the call, before its effect',
  'in the call, after its effect',
  'result returned, not written',
  'result durable',
  'leg end, not committed',
  'leg end durable',
] as const;

/** Moments at which a server handles several runs in turn, so that only one run at a time can be held there. */
export const seatsOfOne = ['claim committed', 'in the recovery', 'in the next claim'] as const;

export type Seat = (typeof seats)[number] | (typeof seatsOfOne)[number];

/** A call that is lost here was begun and has no result: a person has to be asked about it. */
export const seatsInDoubt: ReadonlySet<Seat> = new Set<Seat>([
  'intent durable',
  'in the call, before its effect',
  'in the call, after its effect',
  'result returned, not written',
]);

/** Whether every combination is tested, which takes minutes, or a selection. */
export const isExhaustive = process.env['CONVOKE_TEST_SEATS'] === 'all';

/** Thrown at everything that a dead server still tries. */
export class Dead extends Error {
  constructor() {
    super('this server is dead');
  }
}

/** What happens to a run at its seat. */
export type Fault =
  /** It stays there until its server is killed or continues. */
  | 'hold'
  /** The database answers with an error: before the commit, or after it so that only the answer is lost. */
  | 'database away';

export interface SeatPlan {
  /** One seat per attempt. */
  readonly seats: readonly Seat[];
  readonly fault: Fault;
}

/**
 * Where each run of a test is to be stopped. Runs are known by their prompt, because a run is stopped before its id is
 * known to the test.
 */
export class SeatPlans {
  readonly #plans = new Map<string, { left: Seat[]; fault: Fault; isAtSeat: boolean }>();

  add(prompt: string, { seats: wanted, fault }: SeatPlan): void {
    this.#plans.set(prompt, { left: [...wanted], fault, isAtSeat: false });
  }

  /** The fault for a run that has come to this seat, once. */
  take(prompt: string, seat: Seat): Fault | undefined {
    const plan = this.#plans.get(prompt);
    if (plan?.left[0] !== seat) return undefined;
    plan.left.shift();
    plan.isAtSeat = true;
    return plan.fault;
  }

  isNext(prompt: string, seat: Seat): boolean {
    return this.#plans.get(prompt)?.left[0] === seat;
  }

  /** Whether the run is held at a seat. */
  isAtSeat(prompt: string): boolean {
    return this.#plans.get(prompt)?.isAtSeat === true;
  }

  /** After a kill or a thaw every run continues from where it was. */
  release(): void {
    for (const plan of this.#plans.values()) plan.isAtSeat = false;
  }
}
