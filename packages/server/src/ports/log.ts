type Field = string | number | boolean | undefined;

/** The keys of the logger itself are not for fields. */
export type LogFields = Readonly<Record<string, Field>> &
  Readonly<Partial<Record<'level' | 'time' | 'msg' | 'err', undefined>>>;

/** Ids, sizes and codes only: prompts, event data, tokens and secrets never reach a log. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
}
