import { readFile } from 'node:fs/promises';
import type { SetRules } from '@convoke/sdk';
import { exitCodes, Failure } from '../../../failure.ts';
import { oneLine } from '../../../terminal/output.ts';

export type Rules = SetRules['rules'];

/** Reads the rules of a file of YAML or JSON. The server judges their content. */
export async function readRulesFile(path: string): Promise<Rules> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be read (${code})`, exitCodes.usage);
  });
  const value = await parseYaml(path, text);
  const found = rulesIn(value);
  const problem = found === undefined ? 'must have the key "rules" with a list' : strangeKey(value);
  if (found === undefined || problem !== undefined) {
    throw new Failure(`${path} ${problem ?? ''}`, exitCodes.usage);
  }
  return found;
}

/** Beside the rules, what `rules --json` prints of a document. */
const knownKeys = ['rules', 'version', 'warnings', 'updated_at', 'updated_by', 'updated_by_name'];

/** A misspelled key would take rules away without a word. */
function strangeKey(value: unknown): string | undefined {
  const strange = Object.keys(value ?? {}).find((key) => !knownKeys.includes(key));
  return strange === undefined ? undefined : `has a key that is not known: ${oneLine(strange)}`;
}

/** A few aliases can expand to exponentially more than the size of the file. */
const aliasesMax = 100;

async function parseYaml(path: string, text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text, { maxAliasCount: aliasesMax });
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : '').split('\n');
    throw new Failure(`${path}: ${message.replace(/:$/, '')}`, exitCodes.usage);
  }
}

function rulesIn(value: unknown): Rules | undefined {
  if (typeof value !== 'object' || value === null || !('rules' in value)) return undefined;
  return Array.isArray(value.rules) ? (value.rules as Rules) : undefined;
}

export async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 100, aliasDuplicateObjects: false });
}
