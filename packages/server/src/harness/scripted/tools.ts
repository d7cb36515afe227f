import { z } from 'zod';
import { ConfinedError, openConfined, writeConfined } from '../../confined-fs/files.ts';
import { confinedReason } from '../../confined-fs/reason.ts';
import type { Json, JsonObject } from '../../domain/json.ts';

const writeBytesMax = 1024 * 1024;
const outputBytesMax = 64 * 1024;

/** The data of the `tool_result` event, or the reason for the failure. */
export type ToolResult =
  | { readonly ok: true; readonly data: JsonObject }
  | { readonly ok: false; readonly message: string };

const path = z.string().min(1);
const writeInput = z.strictObject({ path, text: z.string() });
const readInput = z.strictObject({ path });
const pauseMs = z.int().min(0).max(3_600_000).default(0);
const appendInput = z.strictObject({
  path,
  text: z.string(),
  before_ms: pauseMs,
  after_ms: pauseMs,
});

export interface ToolUse {
  readonly toolName: string;
  readonly input: Json;
  readonly sessionFolder: string;
  readonly sleep: (ms: number) => Promise<void>;
  /** True once the leg is over: nothing may be changed any more. */
  readonly isOver: () => boolean;
}

/** Whether the tool changes the session folder: then its calls pass the ledger. */
export function touchesFolder(toolName: string): boolean {
  return toolName !== 'read_file';
}

/**
 * Runs one tool in the session folder. Validates the input, because a person may have edited it. `left`: the leg was
 * over before the tool changed anything.
 */
export async function runTool(use: ToolUse): Promise<ToolResult | 'left'> {
  const { toolName, input, sessionFolder } = use;
  try {
    if (toolName === 'write_file') return await writeFile(input, sessionFolder);
    if (toolName === 'append_file') return await appendFile(use);
    if (toolName === 'read_file') return await readFile(input, sessionFolder);
    return failed(toolName, 'the tool does not exist');
  } catch (error) {
    if (error instanceof ConfinedError) return failed(toolName, confinedReason(error));
    throw error;
  }
}

/** Appends to a file, with pauses before and after, so that a server can be killed around the effect. */
async function appendFile(use: ToolUse): Promise<ToolResult | 'left'> {
  const { input, sessionFolder, sleep, isOver } = use;
  const parsed = appendInput.safeParse(input);
  if (!parsed.success) {
    return failed('append_file', 'the input must be {path, text, before_ms, after_ms}');
  }
  const { path: file, text, before_ms, after_ms } = parsed.data;
  await sleep(before_ms);
  if (isOver()) return 'left';
  const place = { root: sessionFolder, path: file };
  const known = await contentOf(sessionFolder, file);
  const content = Buffer.concat([known, Buffer.from(text)]);
  if (content.length > writeBytesMax) {
    return failed('append_file', `the file would be larger than ${writeBytesMax} bytes`);
  }
  await writeConfined(place, [content]);
  await sleep(after_ms);
  return { ok: true, data: { name: 'append_file', path: file, size_bytes: content.length } };
}

async function contentOf(sessionFolder: string, file: string): Promise<Buffer> {
  const handle = await openConfined(sessionFolder, file);
  if (handle === undefined) return Buffer.alloc(0);
  try {
    // A megabyte for each call would keep the garbage collector busier than the calls do.
    const { size } = await handle.stat();
    const room = Buffer.alloc(Math.min(size, writeBytesMax) + 1);
    const { buffer, bytesRead } = await handle.read(room, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function writeFile(input: Json, sessionFolder: string): Promise<ToolResult> {
  const parsed = writeInput.safeParse(input);
  if (!parsed.success) return failed('write_file', 'the input must be {path, text}');
  const content = Buffer.from(parsed.data.text);
  if (content.length > writeBytesMax) {
    return failed('write_file', `the text is larger than ${writeBytesMax} bytes`);
  }
  await writeConfined({ root: sessionFolder, path: parsed.data.path }, [content]);
  const { path: written } = parsed.data;
  return { ok: true, data: { name: 'write_file', path: written, size_bytes: content.length } };
}

async function readFile(input: Json, sessionFolder: string): Promise<ToolResult> {
  const parsed = readInput.safeParse(input);
  if (!parsed.success) return failed('read_file', 'the input must be {path}');
  const handle = await openConfined(sessionFolder, parsed.data.path);
  if (handle === undefined) return failed('read_file', 'the file does not exist');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(outputBytesMax + 1), 0);
    const truncated = bytesRead > outputBytesMax;
    // A streaming decoder drops a character that the cut split.
    const decoder = new TextDecoder();
    const output = decoder.decode(buffer.subarray(0, Math.min(bytesRead, outputBytesMax)), {
      stream: truncated,
    });
    return { ok: true, data: { name: 'read_file', output, ...(truncated && { truncated }) } };
  } finally {
    await handle.close();
  }
}

function failed(name: string, reason: string): ToolResult {
  return { ok: false, message: `${name} failed: ${reason}` };
}
