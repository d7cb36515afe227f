import { Confined, removeConfined, writeConfined } from '../confined-fs/files.ts';
import { isPathPart } from '../confined-fs/path.ts';
import type { AttachedFile } from '../ports/session-folders.ts';
import type { FolderManifest } from './manifest.ts';

const nameBytesMax = 255;
const extensionBytesMax = 32;

/**
 * Puts the session's ready files under `files/` (D-43) and takes away those that were deleted. A file
 * keeps the name it got; one that comes later with a name that is taken gets its id in front.
 * Answers whether `known` changed.
 */
export async function placeFiles(
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

/** Undefined when the file was deleted while the leg starts. */
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
      // The agent made a folder of that name: the next name, if there is one.
      if (!(error instanceof Confined && error.code === 'EISDIR')) throw error;
    }
  }
  throw new Error(`file ${file.id} finds no free name in the workspace`);
}

/** Names are counted in characters at the API and in bytes on disk: a long one loses its middle. */
function fitted(prefix: string, name: string): string {
  const whole = `${prefix}${name}`;
  if (isPathPart(whole)) return whole;
  const dot = name.lastIndexOf('.');
  const extension =
    dot > 0 && Buffer.byteLength(name.slice(dot)) <= extensionBytesMax ? name.slice(dot) : '';
  const room = nameBytesMax - Buffer.byteLength(prefix + extension);
  const stem = Buffer.from(name.slice(0, name.length - extension.length)).subarray(0, room);
  // A streaming decoder leaves out the character that the cut went through.
  const short = `${prefix}${new TextDecoder().decode(stem, { stream: true })}${extension}`;
  if (!isPathPart(short)) throw new Error('a session file has a name that no file can have');
  return short;
}
