import type { TokenCounts } from './usage.ts';

/** A request of a leg to a model, once it is over. */
export interface ModelRequest {
  readonly model: string;
  readonly seconds: number;
  readonly error?: string | undefined;
  /** Absent if the model did not report it. */
  readonly usage?: TokenCounts | undefined;
}

/** The tokens that the ceilings of a run leave for the next request to a model. */
export type Allowance =
  | { readonly isExhausted: true }
  /** `outputTokens`: at most these, if there is a ceiling. */
  | { readonly isExhausted: false; readonly outputTokens?: number };
