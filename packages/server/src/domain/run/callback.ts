import { type RunId, callbackToken, runId } from '@convoke/contract';

/** The target of a callback URL (D-911): one message of a name, to one run. */
export interface Callback {
  readonly runId: RunId;
  readonly name: string;
  /** Distinguishes the URLs of a name; the agent's kit chooses it. */
  readonly number: string;
}

export interface CallbackToken extends Callback {
  /** Proves that a leg of the run has made the URL. */
  readonly proof: string;
}

/** The parts of a token; undefined for any other text. */
export function readCallbackToken(text: string): CallbackToken | undefined {
  if (!callbackToken.safeParse(text).success) return undefined;
  const [run = '', name = '', number = '', proof = ''] = text.split('.');
  return { runId: runId(run), name, number, proof };
}

/** The text that the proof covers, under the key of the run. */
export function provenText({ name, number }: Pick<Callback, 'name' | 'number'>): string {
  return `${name}.${number}`;
}
