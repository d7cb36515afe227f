import { readAllowList } from '../../egress/allow-list.ts';
import type { Harness } from '../../ports/harness.ts';
import { LazyLeg } from '../lazy-leg.ts';
import type { A2aParts } from './leg.ts';
import { type A2aSettings, readA2a } from './settings.ts';

export interface A2aOptions extends Omit<A2aParts, 'allow'> {
  /** Entries of `CONVOKE_A2A_ALLOW`. */
  readonly allow: readonly string[];
}

/** Calls remote agents over the Agent2Agent protocol, only at the URL in their `agent.yaml`. */
export function a2aHarness(options: A2aOptions): Harness<A2aSettings> {
  const parts: A2aParts = { ...options, allow: readAllowList('CONVOKE_A2A_ALLOW', options.allow) };
  return {
    framework: 'a2a',
    readsWords: true,
    output: 'native',
    afterLoss: 'repeat',
    read: (agent) => readA2a(agent, parts.allow),
    start: (input, context) =>
      new LazyLeg(import('./leg.ts').then(({ A2aLeg }) => new A2aLeg(parts, input, context))),
  };
}
