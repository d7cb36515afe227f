import { type Body, contextOf } from './agent.ts';
import { runAs } from './current.ts';
import type { Leg } from './leg.ts';
import { Steps } from './steps.ts';

/** Calls the function of an agent in one leg. */
export function perform(leg: Leg, body: Body): unknown {
  const steps = new Steps(leg);
  const ctx = contextOf(leg, steps);
  return runAs({ ctx, steps, leg }, () => body(ctx));
}
