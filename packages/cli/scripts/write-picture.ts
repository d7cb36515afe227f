// npm run picture: records `npx convoke invoke demo` in a real terminal and writes docs/pictures/invoke.svg.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTerminal } from '../test/terminal-session.ts';
import { startDevServer } from '../../../test/dev-server.ts';
import { root } from '../../../test/repository.ts';

interface Line {
  /** With the escape sequences of the terminal. */
  readonly text: string;
  /** When the line first looked like this. */
  readonly atMs: number;
}

const columns = 78;
const lookEveryMs = 40;
const pauseMs = 900;
const fontSize = 14;
const lineHeight = 21;
const charWidth = 8.43;
const margin = 20;

const lines = await record();
await mkdir(join(root, 'docs/pictures'), { recursive: true });
await writeFile(join(root, 'docs/pictures/invoke.svg'), picture(lines));

/** Plays the run as a person would, and notes when each line of the last screen appeared. */
async function record(): Promise<Line[]> {
  const server = await startDevServer(async (place) => {
    await mkdir(join(place, 'node_modules/.bin'), { recursive: true });
    const program = join(root, 'packages/cli/bin/convoke.mjs');
    await symlink(program, join(place, 'node_modules/.bin/convoke'));
  });
  // Warnings about npm's settings on this machine are no part of the run.
  const env = { PATH: process.env['PATH'] ?? '', npm_config_loglevel: 'error' };
  const terminal = await openTerminal({ cwd: server.place, env, columns });
  const screens: { readonly lines: string[]; readonly atMs: number }[] = [];
  const began = performance.now();
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const text = await terminal.raw();
      screens.push({ lines: text.trimEnd().split('\n'), atMs: performance.now() - began });
      await pause(lookEveryMs);
    }
  };
  const watching = watch();
  try {
    await pause(pauseMs);
    await terminal.type('npx convoke invoke demo "Hello"');
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await pause(pauseMs);
    await terminal.type('1');
    await terminal.shows(/approve write_file[\s\S]*\?/);
    await pause(pauseMs);
    await terminal.type('y');
    await terminal.shows(/session sess_/);
  } finally {
    isOver = true;
    await watching;
    await terminal.close();
    await server.stop();
  }
  const last = screens.at(-1)?.lines ?? [];
  return last.map((text, row) => {
    const first = screens.find((screen) => screen.lines[row] === text);
    return { text, atMs: first?.atMs ?? 0 };
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Draws the lines in a window; each appears when it did in the run. Without animations all are visible. */
function picture(shown: readonly Line[]): string {
  const width = Math.round(columns * charWidth + 2 * margin);
  const top = 52;
  const height = top + shown.length * lineHeight + margin;
  const rows = shown.map(({ text, atMs }, row) => {
    const y = top + row * lineHeight;
    const delay = (atMs / 1000).toFixed(2);
    return `<text x="${margin}" y="${y}" style="animation-delay:${delay}s">${spans(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run of the demo agent in the terminal">
<style>
text { font: ${fontSize}px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #dfe7ee; white-space: pre; animation: show .2s both; }
.dim { fill: #8fa3b3; } .bold { font-weight: 700; } .colour { fill: #6cc5d4; }
@keyframes show { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#17212b"/>
<circle cx="22" cy="20" r="6" fill="#f08a87"/><circle cx="42" cy="20" r="6" fill="#dfa64f"/><circle cx="62" cy="20" r="6" fill="#5cc59a"/>
${rows.join('\n')}
</svg>
`;
}

/** Turns the colours of the terminal into classes. */
function spans(text: string): string {
  let kind = '';
  let drawn = '';
  for (const part of text.split(/(\u001b\[[0-9;]*m|\u001b\(B|\u000f)/)) {
    const codes = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
    if (codes !== undefined) kind = kindOf(codes, kind);
    else if (part !== '' && !/^[\u001b\u000f]/.test(part)) {
      drawn += kind === '' ? escape(part) : `<tspan class="${kind}">${escape(part)}</tspan>`;
    }
  }
  return drawn;
}

function kindOf(codes: string, before: string): string {
  const list = codes.split(';');
  if (list.includes('2')) return 'dim';
  if (list.some((code) => /^(3[1-6]|9[0-7])$/.test(code))) return 'colour';
  if (list.includes('1')) return 'bold';
  return list.some((code) => ['', '0', '22', '39'].includes(code)) ? '' : before;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
