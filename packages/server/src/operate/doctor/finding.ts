/** Result of one check of `convoke doctor`. */
export interface Finding {
  readonly check: string;
  /** `warn`: a server starts, but something may not be as intended. `fail`: it does not start, or does not work. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly text: string;
  /** What to do; present unless the state is `ok`. */
  readonly remedy?: string;
  /** Lines that are shown with `--verbose`. */
  readonly details?: readonly string[];
}

export function fine(check: string, text: string): Finding {
  return { check, state: 'ok', text };
}

export function warned(check: string, text: string, remedy: string): Finding {
  return { check, state: 'warn', text, remedy };
}

export function failed(check: string, text: string, remedy: string): Finding {
  return { check, state: 'fail', text, remedy };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
