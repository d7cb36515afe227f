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

/** Runs one tool in the session folder. Validates the input, because a person may have edited it. */
export async function runTool(
  name: string,
  input: Json,
  sessionFolder: string,
): Promise<ToolResult> {
  try {
    if (name === 'write_file') return await writeFile(input, sessionFolder);
    if (name === 'read_file') return await readFile(input, sessionFolder);
    return failed(name, 'the tool does not exist');
  } catch (error) {
    if (error instanceof ConfinedError) return failed(name, confinedReason(error));
    throw error;
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
