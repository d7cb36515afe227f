import { styleText } from 'node:util';

const colours = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

/** Renders a JSON line of the log for a person: time, level, message, its fields, and the stack of an error below. */
export function textOfLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as LogLine;
  const at = styled('dim', new Date(time).toTimeString().slice(0, 8));
  const details = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`);
  const more = details.length === 0 ? '' : ` (${details.join(', ')})`;
  const text = `${at} ${styled(colours[level], level.padEnd(5))} ${visible(`${msg}${more}`)}`;
  return err?.stack === undefined ? text : `${text}\n${styled('dim', indented(err.stack))}`;
}

interface LogLine {
  readonly level: keyof typeof colours;
  readonly time: string;
  readonly msg: string;
  readonly err?: { readonly stack?: string };
  readonly [field: string]: unknown;
}

function styled(style: 'dim' | 'green' | 'yellow' | 'red', text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

function indented(stack: string): string {
  return stack
    .split('\n')
    .map((line) => `  ${visible(line)}`)
    .join('\n');
}

/** Shows what would control the terminal, or turn text around, as its code: fields may contain words of an agent. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
