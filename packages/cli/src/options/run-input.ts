import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@convoke/sdk';
import { Option } from 'commander';
import { exitCodes, Failure } from '../failure.ts';

/** Larger bodies are refused by the server. */
const bytesMax = 1024 * 1024;

export function inputOption(): Option {
  return new Option(
    '--input <json>',
    "input of the run as a JSON object, or @FILE; the prompt becomes its member 'prompt'",
  );
}

/** The prompt as it was typed; for `-` what standard input has, without the line break at its end. */
export async function typedPrompt(prompt: string | undefined): Promise<string | undefined> {
  if (prompt !== '-') return prompt;
  if (process.stdin.isTTY) {
    throw new Failure(
      'the prompt - is read from standard input: redirect it with < or |',
      exitCodes.usage,
    );
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new Failure('the prompt in standard input is larger than 1 MiB', exitCodes.usage);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text === '') throw new Failure('standard input has no prompt', exitCodes.usage);
  return text;
}

/** The input of a run: the prompt, the object of `--input`, or both. */
export async function runInputOf({
  prompt,
  input,
}: {
  readonly prompt?: string | undefined;
  readonly input?: string | undefined;
}): Promise<JsonObject> {
  if (input === undefined && prompt === undefined) {
    throw new Failure('a prompt or --input is needed', exitCodes.usage);
  }
  const given = input === undefined ? {} : await objectIn(input);
  return prompt === undefined ? given : { ...given, prompt };
}

async function objectIn(given: string): Promise<JsonObject> {
  const text = given.startsWith('@') ? await fileText(given.slice(1)) : given;
  const value = jsonIn(text);
  if (isObject(value)) return value;
  throw new Failure(
    '--input must be a JSON object, as in \'{"ticket": 7}\', or @FILE',
    exitCodes.usage,
  );
}

async function fileText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    throw new Failure(`${path} cannot be read: ${reason}`, exitCodes.usage);
  });
  if (bytes.length > bytesMax) throw new Failure(`${path} is larger than 1 MiB`, exitCodes.usage);
  return bytes.toString('utf8');
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
