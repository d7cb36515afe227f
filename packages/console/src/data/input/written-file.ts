import type { Json } from '@convoke/sdk';

/** A file of the session folder that a tool wants to change. */
export interface WrittenFile {
  /** As the call says it. */
  readonly path: string;
  readonly change: TextChange;
}

export type TextChange =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'appended'; readonly text: string }
  | {
      readonly kind: 'replaced';
      readonly from: string;
      readonly to: string;
      readonly isEach: boolean;
    };

const pathKeys = ['path', 'file_path'];
const textKeys = ['text', 'content'];

/** The file as the call would leave it; undefined for other tools and inputs. */
export function writtenFile(toolName = '', input: Json | undefined): WrittenFile | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const members = new Map(Object.entries(input as Readonly<Record<string, Json | undefined>>));
  const find = (keys: readonly string[]) =>
    keys.map((key) => members.get(key)).find((value) => typeof value === 'string');
  const path = find(pathKeys);
  if (path === undefined || path === '' || path.endsWith('/')) return undefined;
  if (/edit|replace/i.test(toolName)) {
    const [from, to] = [find(['old_string']), find(['new_string'])];
    if (from === undefined || from === '' || to === undefined) return undefined;
    const isEach = members.get('replace_all') === true;
    return { path, change: { kind: 'replaced', from, to, isEach } };
  }
  const isAppended = /append/i.test(toolName);
  const text = find(textKeys);
  if (text === undefined || (!isAppended && !/write|create/i.test(toolName))) return undefined;
  return { path, change: isAppended ? { kind: 'appended', text } : { kind: 'whole', text } };
}

/** The text after the change; undefined where the text to replace is missing. */
export function changedText(before: string, change: TextChange): string | undefined {
  if (change.kind === 'whole') return change.text;
  if (change.kind === 'appended') return before + change.text;
  const { from, to, isEach } = change;
  if (!before.includes(from)) return undefined;
  // Functions, because `$&` in a text is no pattern here.
  return isEach ? before.replaceAll(from, () => to) : before.replace(from, () => to);
}

/** As a session lists its files: name and id. */
interface ListedFile {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

/** Programs see the session folder as `/workspace`. */
const placed = /^(?:\.\/|\/workspace\/)?(?<folder>outputs|files)\/(?<name>.+)$/;

/** Where the API can read a file of the session folder; undefined for any other place in it. */
export function placeOf(path: string): { folder: 'outputs' | 'files'; name: string } | undefined {
  const { folder, name } = placed.exec(path)?.groups ?? {};
  if (name === undefined || name.split('/').includes('..')) return undefined;
  if (folder === 'files') return name.includes('/') ? undefined : { folder, name };
  // A session lists every file below this folder under one name: dashes replace its slashes.
  return { folder: 'outputs', name: name.replaceAll('/', '-') };
}

/**
 * The files that a session lists for a place, newest first. Each change of an output is another file with the same
 * name; of several attached files with one name, the later ones stand in the folder with their id before it (D-43).
 */
export function filesAt<File extends ListedFile>(
  files: readonly File[],
  { folder, name }: NonNullable<ReturnType<typeof placeOf>>,
): readonly File[] {
  const ready = files.filter(({ status }) => status === 'ready');
  const named = ready.filter((file) => file.name === name);
  if (folder === 'outputs') return named.slice(0, 1);
  return [...named, ...ready.filter((file) => `${file.id}-${file.name}` === name)];
}
