import { type Logger, pino } from 'pino';
import type { Log } from '../ports/log.ts';
import { activeSpan } from './traces.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Logs JSON lines to standard error; standard output is for the output of commands. */
export function createLog({ level }: { level: LogLevel }): Log {
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A line written inside a span carries its ids, so that a trace leads to its log lines.
      mixin: () => activeSpan() ?? {},
      mixinMergeStrategy: withoutOwnKeys,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, error, fields) => logger.error({ ...fields, err: error }, message),
  };
}

/** The keys of the logger win: a second `level` would replace the first for every reader of JSON. */
function withoutOwnKeys(fields: object, span: object): object {
  return { ...fields, ...span, level: undefined, time: undefined, msg: undefined };
}
