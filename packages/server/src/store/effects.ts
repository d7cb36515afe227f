/** How an error that no caller waits for reaches the log. */
export type Report = (message: string, error: unknown) => void;

/** The transaction is durable by now, so nothing an effect throws may reach whoever awaits it. */
export function runEffects(effects: readonly (() => void)[], report: Report): void {
  for (const effect of effects) {
    try {
      effect();
    } catch (error) {
      report('an effect of a committed transaction failed', error);
    }
  }
}
