import { type Duration, endOfWait } from './durations.ts';
import { Misuse } from '../failures.ts';
import type { SettledWait } from '../lines.ts';
import { checkName } from '../names.ts';
import type { Steps } from '../steps.ts';

export interface ReceiveOptions {
  /**
   * Such as `7d`, or a `Date`. Without one the run waits as long as for a person: `limits.wait_hours` of agent.yaml.
   */
  readonly timeout?: Duration;
}

/** A message from outside. Its data is as untrusted as a prompt. */
export type Received<T> =
  | { readonly timedOut: false; readonly data: T }
  | { readonly timedOut: true };

export async function sleep(steps: Steps, name: string, duration: Duration): Promise<void> {
  checkName(name, 'sleep');
  const end = endOfWait(`sleep "${name}"`, duration);
  await steps.wait({ method: 'sleep', kind: 'timer', name, end });
}

export async function receive(
  steps: Steps,
  name: string,
  { timeout }: ReceiveOptions = {},
): Promise<Received<unknown>> {
  checkSignalName(name);
  const end = timeout === undefined ? {} : endOfWait(`receive "${name}"`, timeout);
  const wait: SettledWait = await steps.wait({ method: 'receive', kind: 'signal', name, end });
  return 'data' in wait ? { timedOut: false, data: wait.data } : { timedOut: true };
}

export function checkSignalName(name: unknown): void {
  if (typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name)) return;
  throw new Misuse(
    `The name of a message must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", and ${JSON.stringify(name)} is not.`,
  );
}
