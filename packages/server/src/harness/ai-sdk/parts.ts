import type { Sandbox } from '../../ports/sandbox.ts';

/** What the adapter is given when the server is put together. */
export interface AiSdkParts {
  readonly sandbox: Sandbox;
  /** How often a request to a model is sent again after a passing failure. */
  readonly retries?: number;
  /** How long a model may be silent. */
  readonly silenceMs?: number;
}

/** The same for one leg: the programs it starts are its own, to be ended with it. */
export interface LegParts extends Omit<AiSdkParts, 'sandbox'> {
  readonly processes: Pick<Sandbox, 'spawn'>;
}
