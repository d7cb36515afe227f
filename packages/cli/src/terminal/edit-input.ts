import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@convoke/sdk';
import { type Asking, ask } from './ask.ts';
import { remark } from './output.ts';

/**
 * Lets the person change the input of a tool: in $VISUAL or $EDITOR, else typed as one line of JSON. Returns undefined,
 * after saying why, if the result is not an object.
 */
export async function editInput(shown: string, asking: Asking): Promise<JsonObject | undefined> {
  const editor = process.env['VISUAL'] ?? process.env['EDITOR'];
  const text =
    editor === undefined || editor === ''
      ? await ask('  the new input, as JSON in one line: ', asking)
      : await asking.interrupts.yieldTo(() => editedIn(editor, shown));
  if (text === undefined || text === '') return undefined;
  try {
    const input: unknown = JSON.parse(text);
    if (isJsonObject(input)) return input;
    remark('  the input must be a JSON object');
  } catch (error) {
    remark(`  not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function editedIn(editor: string, shown: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-edit-'));
  const path = join(folder, 'input.json');
  try {
    await writeFile(path, `${shown}\n`, { mode: 0o600 });
    // Through a shell, because the variable may hold options: `code --wait`.
    const program = spawn(`${editor} "${path}"`, { shell: true, stdio: 'inherit' });
    const code = await new Promise<number | null>((resolve, reject) => {
      program.once('error', reject);
      program.once('close', resolve);
    });
    if (code === 0) return await readFile(path, 'utf8');
    remark(`  ${editor} ended with ${code}; the input is unchanged`);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
