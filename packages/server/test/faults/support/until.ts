import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  readonly withinMs: number;
  /** What is waited for, for the message when it does not come. */
  readonly what: string | (() => string);
}

const lookAgainMs = 20;

/** Looks again and again until there is an answer other than undefined or false. */
export async function until<Answer>(
  look: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  { withinMs, what }: Patience,
): Promise<Answer> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) {
      const story = typeof what === 'string' ? what : what();
      throw new Error(`within ${withinMs} ms there was no ${story}`);
    }
    await pause(lookAgainMs);
  }
}
