import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from './agent.ts';
import { Misuse } from './failures.ts';
import type { Leg } from './leg.ts';
import type { Steps } from './steps.ts';

/** The run that the current code belongs to. */
export interface Current {
  readonly ctx: Context<object>;
  readonly steps: Steps;
  readonly leg: Leg;
}

/**
 * Known to every copy of this package: an agent that is bundled has its adapter inside, and the server brings the rest.
 */
const key = Symbol.for('convoke.agent.current');
const shared = globalThis as { [key]?: AsyncLocalStorage<Current> };

function storage(): AsyncLocalStorage<Current> {
  shared[key] ??= new AsyncLocalStorage<Current>();
  return shared[key];
}

/** Calls the function with `current()` set, for everything that it starts. */
export function runAs<T>(run: Current, body: () => T): T {
  return storage().run(run, body);
}

/** Returns the run of the caller. Frameworks do not pass it to models and tools, so adapters look it up here. */
export function current(): Current {
  const run = storage().getStore();
  if (run !== undefined) return run;
  throw new Misuse(
    'Durable models and tools only work while an agent runs. Call them inside agent(…).',
  );
}
