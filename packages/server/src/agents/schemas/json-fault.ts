/**
 * Where a text stops being JSON, as line and column from 1. The message of the engine has a place for some mistakes
 * only, so the longest beginning that could still continue as JSON is searched for.
 */
export function jsonFault(text: string): { readonly line: number; readonly column: number } {
  let continues = 0;
  let fails = text.length + 1;
  while (fails - continues > 1) {
    const middle = Math.floor((continues + fails) / 2);
    if (mayContinue(text.slice(0, middle))) continues = middle;
    else fails = middle;
  }
  const lines = text.slice(0, continues).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function mayContinue(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/^Unexpected end|^Unterminated/.test(message)) return true;
    const position = /at position (\d+)/.exec(message)?.[1];
    return position !== undefined && Number(position) >= beginning.length;
  }
}
