import { z } from 'zod';
import {
  ConfinedError,
  listConfined,
  openConfined,
  writeConfined,
} from '../../../confined-fs/files.ts';
import { confinedReason } from '../../../confined-fs/reason.ts';
import { type AgentTool, type ToolOutput, failed, shortened, succeeded } from './agent-tool.ts';

const readBytesMax = 4 * 1024 * 1024;
const writeBytesMax = 1024 * 1024;
const linesMax = 2000;
const entriesMax = 1000;
const foldersMax = 200;
/** Names read of one folder, of which the first in the alphabet are shown. */
const namesReadMax = 10_000;
/** Listed, but not descended into: they are large and rarely useful. */
const closedFolders = new Set(['.git', 'node_modules']);

const path = z.string().min(1).describe('Relative to the workspace, with forward slashes');

/** Tools for the files of the session folder, confined to it (`confined-fs/files.ts`). */
export function fileTools(sessionFolder: string): readonly AgentTool[] {
  return [
    toolOf({
      name: 'read_file',
      description: `Reads a text file of the workspace, at most ${linesMax} lines at a time.`,
      input: z.strictObject({
        path,
        first_line: z.int().min(1).optional().describe('Where to begin; 1 when absent'),
        lines: z.int().min(1).max(linesMax).optional(),
      }),
      run: (input) => readFile(sessionFolder, input),
    }),
    toolOf({
      name: 'write_file',
      description: 'Writes a whole text file of the workspace, with the folders it needs.',
      touches: 'workspace',
      input: z.strictObject({ path, text: z.string() }),
      run: (input) => writeFile(sessionFolder, input),
    }),
    toolOf({
      name: 'list_files',
      description: 'Lists a folder of the workspace; the names of folders end with a slash.',
      input: z.strictObject({
        path: z.string().optional().describe('The workspace itself when absent'),
        recursive: z.boolean().optional(),
      }),
      run: (input) => listFiles(sessionFolder, input),
    }),
  ];
}

interface FileTool<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly touches?: 'workspace';
  readonly run: (input: Input) => Promise<ToolOutput>;
}

function toolOf<Input>({ name, description, input, run, touches }: FileTool<Input>): AgentTool {
  return {
    name,
    wireName: name,
    description,
    inputSchema: input,
    touches: touches ?? 'none',
    // Reading changes nothing, and writing replaces the whole file.
    isRepeatable: true,
    async run(given) {
      const parsed = input.safeParse(given);
      if (!parsed.success) return failed(`${name}: ${z.prettifyError(parsed.error)}`);
      try {
        return await run(parsed.data);
      } catch (error) {
        if (error instanceof ConfinedError) return failed(`${name}: ${confinedReason(error)}`);
        throw error;
      }
    },
  };
}

async function readFile(
  root: string,
  request: { path: string; first_line?: number | undefined; lines?: number | undefined },
): Promise<ToolOutput> {
  const handle = await openConfined(root, request.path);
  if (handle === undefined) return failed('read_file: the file does not exist');
  try {
    const { size } = await handle.stat();
    if (size > readBytesMax) return failed(`read_file: the file is too large (${size} bytes)`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0))
      return failed(`read_file: not a text file (${size} bytes of binary data)`);
    const { first_line: first = 1, lines: count = linesMax } = request;
    const all = bytes.toString('utf8').split('\n');
    const shown = all.slice(first - 1, first - 1 + count);
    const rest = all.length - (first - 1 + shown.length);
    const note = rest > 0 ? `\n(${rest} more lines, from line ${first + shown.length} on)` : '';
    return succeeded(shortened(shown.join('\n')) + note);
  } finally {
    await handle.close();
  }
}

async function writeFile(
  root: string,
  request: { path: string; text: string },
): Promise<ToolOutput> {
  const content = Buffer.from(request.text);
  if (content.length > writeBytesMax) {
    return failed(`write_file: the text has more than ${writeBytesMax} bytes`);
  }
  await writeConfined({ root, path: request.path }, [content]);
  return succeeded(`Wrote ${content.length} bytes to ${request.path}.`);
}

async function listFiles(
  root: string,
  request: { path?: string | undefined; recursive?: boolean | undefined },
): Promise<ToolOutput> {
  const start = request.path === '.' || request.path === './' ? '' : (request.path ?? '');
  const lines: string[] = [];
  const folders = [start.replace(/\/$/, '')];
  for (let looked = 0; looked < foldersMax && lines.length < entriesMax; looked += 1) {
    const folder = folders.shift();
    if (folder === undefined) break;
    const entries = await listConfined({ root, path: folder }, namesReadMax);
    if (entries === undefined) return failed('list_files: the folder does not exist');
    for (const { name, kind } of entries) {
      const below = folder === '' ? name : `${folder}/${name}`;
      lines.push(kind === 'folder' ? `${below}/` : below);
      if (request.recursive === true && kind === 'folder' && !closedFolders.has(name))
        folders.push(below);
    }
  }
  const isWhole = folders.length === 0 && lines.length <= entriesMax;
  const note = isWhole ? [] : ['(not all entries are shown: list a subfolder)'];
  return succeeded([...lines.slice(0, entriesMax), ...note].join('\n') || '(empty)');
}
