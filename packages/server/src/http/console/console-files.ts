import { readFile, readdir, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** One file of the built console, in the encodings that the build made. */
export interface ConsoleFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
}

/** The built console in memory, by path below `/console/`. */
export interface ConsoleFiles {
  /** Undefined when the console was not built. */
  current(): Promise<ReadonlyMap<string, ConsoleFile> | undefined>;
}

export const indexName = 'index.html';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The build has a few dozen files. */
const filesMax = 1_000;

/**
 * Reads the folder at the first request, and again when its index page was built again. Serving from memory means that
 * a path of a request is never a path of the disk, and that a page and its scripts come from the same build.
 */
export function openConsoleFiles(folder: string): ConsoleFiles {
  let read:
    | { readonly stamp: number; readonly files: ReadonlyMap<string, ConsoleFile> }
    | undefined;
  return {
    async current() {
      const stamp = await stampOf(join(folder, indexName));
      // While a build replaces the folder, the one in memory is served.
      if (stamp === undefined || stamp === read?.stamp) return read?.files;
      const files = await readFolder(folder).catch(() => undefined);
      if (files?.has(indexName) === true) read = { stamp, files };
      return read?.files;
    },
  };
}

async function stampOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const names = (await readdir(folder, { recursive: true })).slice(0, filesMax);
  const present = new Set(names);
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const readIf = async (other: string) =>
      present.has(other) ? readFile(join(folder, other)) : undefined;
    files.set(name.replaceAll(sep, '/'), {
      type,
      plain: await readFile(join(folder, name)),
      gzip: await readIf(`${name}.gz`),
      brotli: await readIf(`${name}.br`),
    });
  }
  return files;
}
