import { ConfinedError, removeConfined, writeConfined } from '../confined-fs/files.ts';
import { isPathPart } from '../confined-fs/path.ts';
import type { AttachedFile } from '../ports/session-folders.ts';
import type { FolderManifest } from './manifest.ts';

const nameBytesMax = 255;
const extensionBytesMax = 32;

/**
 * Places the session's ready files under `files/` (D-43) and removes those that were deleted. A placed file keeps
 * its name; a later file of the same name is placed with its id as a prefix. Returns whether `known` changed.
 */
export async function placeAttachedFiles(
  root: string,
  files: readonly AttachedFile[],
  known: FolderManifest['files'],
): Promise<boolean> {
  let changed = false;
  const wanted = new Set<string>(files.map(({ id }) => id));
  for (const [id, { name }] of known) {
    if (wanted.has(id)) continue;
    await removeConfined(root, `files/${name}`);
    known.delete(id);
    changed = true;
  }
  const taken = new Set([...known.values()].map(({ name }) => name));
  for (const file of files) {
    const placed = known.get(file.id);
    if (placed?.sha256 === file.sha256) continue;
    const name = await place(
      root,
      file,
      placed === undefined ? namesFor(file, taken) : [placed.name],
    );
    if (name === undefined) continue;
    taken.add(name);
    known.set(file.id, { name, sha256: file.sha256 });
    changed = true;
  }
  return changed;
}

function namesFor({ id, name }: AttachedFile, taken: ReadonlySet<string>): readonly string[] {
  return [fitted('', name), fitted(`${id}-`, name)].filter((candidate) => !taken.has(candidate));
}

/** Returns the name it got; undefined when the file was deleted while the leg starts. */
async function place(
  root: string,
  file: AttachedFile,
  names: readonly string[],
): Promise<string | undefined> {
  for (const name of names) {
    try {
      const content = await file.open();
      if (content === undefined) return undefined;
      await writeConfined({ root, path: `files/${name}` }, content, {
        reclaim: 'folders',
      });
      return name;
    } catch (error) {
      // The agent made a folder of that name: try the next name.
      if (!(error instanceof ConfinedError && error.code === 'EISDIR')) throw error;
    }
  }
  throw new Error(`no free name for file ${file.id} in the session folder`);
}

/** Shortens a name by its middle: the API limits names in characters, file systems in bytes. */
function fitted(prefix: string, name: string): string {
  const whole = `${prefix}${name}`;
  if (isPathPart(whole)) return whole;
  const dot = name.lastIndexOf('.');
  const extension =
    dot > 0 && Buffer.byteLength(name.slice(dot)) <= extensionBytesMax ? name.slice(dot) : '';
  const room = nameBytesMax - Buffer.byteLength(prefix + extension);
  const stem = Buffer.from(name.slice(0, name.length - extension.length)).subarray(0, room);
  // A streaming decoder drops a character that the cut split.
  const short = `${prefix}${new TextDecoder().decode(stem, { stream: true })}${extension}`;
  if (!isPathPart(short)) throw new Error('the name of a session file is not valid on disk');
  return short;
}
