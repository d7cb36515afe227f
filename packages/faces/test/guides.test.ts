// The guides "Add a face" and "Add an event type" are carried out as printed, in a copy of the sources.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { formatted } from '../../sdk/scripts/format.ts';
import type { TranscriptEvent } from '../src/index.ts';
import { runLogs } from './run-logs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The code blocks of a guide that name this file. */
async function codeOf(guide: string, file: string): Promise<readonly string[]> {
  const text = await readFile(join(root, 'docs/guides', guide), 'utf8');
  const blocks = text.matchAll(/^( *)```ts (\S+)\n(.*?)^ *```$/gms);
  return Array.from(blocks).flatMap(([, indent = '', name, code = '']) =>
    name === file ? [code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}

/** A copy of this package's sources, and what the compiler says of them: the files that do not compile. */
async function copyOfSources() {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-faces-'));
  onTestFinished(() => removeFolder(folder));
  await cp(join(root, 'packages/faces/src'), join(folder, 'src'), { recursive: true });
  // What browsers of 2022 lack does not compile.
  const options = { rootDir: 'src', lib: ['es2022', 'dom'], types: [] };
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: options,
    include: ['src'],
    exclude: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const at = (file: string) => join(folder, file.replace('packages/faces/', ''));
  return {
    at,
    async insert(file: string, code: string | undefined, before: string) {
      const text = await readFile(at(file), 'utf8');
      expect([before, text.split(before).length]).toEqual([before, 2]);
      await writeFile(
        at(file),
        text.replace(before, () => `${code}${before}`),
      );
    },
    broken(): readonly string[] {
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
      const names = Array.from(stdout.matchAll(/(?<=src\/)\S+\.ts(?=\(\d+,\d+\): error)/g), String);
      return [...new Set(names)].toSorted();
    },
  };
}

interface Lines {
  readonly LinesStream: new () => {
    readonly isOver: boolean;
    take(event: TranscriptEvent): readonly Line[];
    pause(): readonly Line[];
  };
}
interface Line {
  readonly id?: string;
  readonly say?: string;
  readonly discard?: string;
  readonly ask?: string;
}

test('the encoder of "Add a face" compiles, and reads the logs of every framework', async () => {
  const file = 'packages/faces/src/lines/stream.ts';
  const [code = ''] = await codeOf('add-a-face.md', file);
  expect(formatted('stream.ts', code)).toBe(code);
  const sources = await copyOfSources();
  await mkdir(sources.at('packages/faces/src/lines'));
  await writeFile(sources.at(file), code);
  expect(sources.broken()).toEqual([]);
  const { LinesStream } = (await import(pathToFileURL(sources.at(file)).href)) as Lines;
  for (const { events, outputText, pending, name } of runLogs()) {
    const stream = new LinesStream();
    const lines = [...events.flatMap((event) => stream.take(event)), ...stream.pause()];
    expect([name, lines.flatMap(({ ask }) => ask ?? [])]).toEqual([name, pending]);
    if (outputText !== null) expect([name, textOf(lines)]).toEqual([name, outputText]);
  }
});

/** What a client of the lines shows. */
function textOf(lines: readonly Line[]): string {
  let said: readonly Line[] = [];
  for (const line of lines) {
    if (line.say !== undefined) said = [...said, line];
    const { discard } = line;
    if (discard !== undefined) said = said.filter(({ id = '' }) => id < discard);
  }
  return said.map(({ say }) => say).join('');
}

test('"Add an event type": a new type does not compile before every face has said what it does with it', async () => {
  const guide = 'add-an-event-type.md';
  const sources = await copyOfSources();
  const names = 'packages/faces/src/event-types.ts';
  const [name] = await codeOf(guide, names);
  await sources.insert(names, name, '] as const;');
  expect(sources.broken()).toEqual(['transcript.ts']);
  const transcript = 'packages/faces/src/transcript.ts';
  const [reading, item] = await codeOf(guide, transcript);
  await sources.insert(transcript, reading, "      case 'context_file_loaded':\n");
  await sources.insert(transcript, item, '  | EndItem;\n');
  expect(sources.broken()).toEqual([
    'a2a/stream.ts',
    'ag-ui/stream.ts',
    'ai-sdk/stream.ts',
    'mcp/run.ts',
  ]);
});
