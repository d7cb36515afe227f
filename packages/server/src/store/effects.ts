/** Logs an error that no caller awaits. */
export type Report = (message: string, error: unknown) => void;

/** Runs the effects of a committed transaction. It is durable already, so their errors must not reject it. */
export function runEffects(effects: readonly (() => void)[], report: Report): void {
  for (const effect of effects) {
    try {
      effect();
    } catch (error) {
      report('an effect of a committed transaction failed', error);
    }
  }
}
