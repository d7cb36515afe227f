import { type Logger, pino } from 'pino';
import type { Log } from '../ports/log.ts';
import { textOfLine } from './log-text.ts';
import { activeSpan } from './traces.ts';

interface LogOptions {
  readonly level: 'auto' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly format?: 'auto' | 'text' | 'json';
}

/**
 * Logs to standard error, text for a person at a terminal and otherwise JSON; standard output is for the output of
 * commands.
 */
export function createLog({ level, format = 'auto' }: LogOptions): Log {
  const isTerminal = process.stderr.isTTY;
  const isText = format === 'text' || (format === 'auto' && isTerminal);
  const lines = pino.destination({ dest: 2, sync: true });
  const logger: Logger = pino(
    {
      level: level === 'auto' ? (isTerminal ? 'info' : 'warn') : level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A line written inside a span carries its ids, so that a trace leads to its log lines.
      mixin: () => activeSpan() ?? {},
      mixinMergeStrategy: withoutOwnKeys,
      formatters: { level: (label) => ({ level: label }) },
    },
    isText ? { write: (line) => lines.write(`${textOfLine(line)}\n`) } : lines,
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
