export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Ids, sizes and codes only: prompts, event data, tokens and secrets never reach a log. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
}
