import { StringDecoder } from 'node:string_decoder';

/** A line that is longer is shown in parts. */
const lineMax = 4096;

/**
 * Gets what programs print, line by line, with the name of their agent: for an author who watches the server (D-428).
 */
export type ShowOutput = (agent: string, line: string) => void;

/** Calls back with each line of a stream of bytes. */
export function eachLine(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = `${rest}${decoder.write(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
    for (; rest.length >= lineMax; rest = rest.slice(lineMax)) onLine(rest.slice(0, lineMax));
  };
}
