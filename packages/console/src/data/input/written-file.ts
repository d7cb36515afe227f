import type { Json } from '@convoke/sdk';

/** A file of the session that a tool wants to write. */
export interface WrittenFile {
  /** As the session lists it. */
  readonly name: string;
  readonly text: string;
  readonly isAppended: boolean;
}

const pathKeys = ['path', 'file_path'];
const textKeys = ['text', 'content'];
/** What an agent writes here, the session lists; slashes below it become dashes there. */
const listed = /^(?:\.\/)?outputs\/(.+)$/;

/** What a call would make of a file that people can see; undefined for other tools, inputs and places. */
export function writtenFile(
  toolName: string | undefined,
  input: Json | undefined,
): WrittenFile | undefined {
  const isAppended = /append/i.test(toolName ?? '');
  if (!isAppended && !/write|create/i.test(toolName ?? '')) return undefined;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const members = new Map(Object.entries(input as Readonly<Record<string, Json | undefined>>));
  const find = (keys: readonly string[]) =>
    keys.map((key) => members.get(key)).find((value) => typeof value === 'string');
  const path = listed.exec(find(pathKeys) ?? '')?.[1];
  const text = find(textKeys);
  if (path === undefined || text === undefined) return undefined;
  return { name: path.replaceAll('/', '-'), text, isAppended };
}
