import type { LeaseGrant } from '../../src/domain/run/run.ts';
import type { Slot } from '../../src/ports/run-slots.ts';

/** The slot of a worker that the test plays itself: it executes nothing. */
export function idleSlot(lease: LeaseGrant): Slot {
  return { lease, begin() {}, start() {}, release() {}, recall: async () => false };
}
