import type { References } from './references.ts';
import type { Sandbox } from '../../ports/sandbox.ts';

/** Dependencies of the harness. */
export interface AiSdkParts {
  readonly sandbox: Sandbox;
  /** How often a request to a model is retried after a transient failure. */
  readonly retries?: number;
  /** How long a model may be silent. */
  readonly silenceMs?: number;
}

/** Dependencies of one leg. The programs it starts end with it. */
export interface LegParts extends Omit<AiSdkParts, 'sandbox'> {
  readonly processes: Pick<Sandbox, 'spawn'>;
  /** True once the leg shall hand its run over, at its next safe point (D-85). */
  readonly isYielding: () => boolean;
  /** Secrets of the leg. */
  readonly references: References;
}
