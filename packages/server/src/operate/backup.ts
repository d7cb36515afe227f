import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { type CopiedFile, copyFile, copyTree } from '../confined-fs/copy-tree.ts';
import { digestOf } from '../confined-fs/file-bytes.ts';
import { openConfined } from '../confined-fs/files.ts';
import { readEntries } from '../confined-fs/folder-entries.ts';
import { isWithin } from '../confined-fs/path.ts';
import { removeTree } from '../confined-fs/remove-tree.ts';
import { FolderTooLarge } from '../confined-fs/walk.ts';
import { hasCode } from '../runtime/error-code.ts';
import { backupSqlite } from '../store/transfer/sqlite-backup.ts';

export interface Backup {
  readonly folder: string;
  readonly database_bytes: number;
  readonly files: number;
  readonly file_bytes: number;
  /** What is not in the backup, with the reason. */
  readonly left_out: readonly string[];
}

const databaseFile = 'convoke.db';
/** The digests of everything in the backup, in the format of `sha256sum`. */
const digestsFile = 'files.sha256';
/** Folders of the data folder with one folder per tenant. */
const tenantFolders = ['blobs', 'workspaces'];
/** Names in one session folder, and session folders or files of one tenant. */
const namesMax = 1_000_000;

/**
 * Copies database, files and session folders of a deployment on SQLite into a new folder, while a server may be
 * running. The folder gets its name when everything in it is written and checked. The master key is left out, because
 * the backup and the key together open every secret.
 */
export async function backupDeployment(config: Config, folder: string): Promise<Backup> {
  const { dataDir } = config;
  const source = join(dataDir, databaseFile);
  if (config.databaseUrl !== undefined) throw new Error(postgresAdvice);
  if (!existsSync(source)) throw new Error(`there is no database in ${dataDir}`);
  const target = resolve(folder);
  await refuseTarget(target, dataDir);
  const draft = `${target}.incomplete-${process.pid}`;
  await mkdir(draft, { mode: 0o700 });
  try {
    const database = join(draft, databaseFile);
    await backupSqlite(source, database);
    const copies = await FolderCopies.begin(dataDir, draft);
    try {
      await copies.note({ path: databaseFile, sha256: await digestOf(await open(database)) });
      // After the database: the bytes of a file are stored before its row.
      for (const name of tenantFolders) await copies.copyAll(name);
    } finally {
      await copies.end();
    }
    const { size } = await stat(database);
    await rename(draft, target);
    const { files, bytes, leftOut } = copies;
    return {
      folder: target,
      database_bytes: size,
      files,
      file_bytes: bytes,
      left_out: [...leftOut, ...keptElsewhere(config)],
    };
  } catch (error) {
    await removeTree(draft).catch(() => undefined);
    throw error;
  }
}

const postgresAdvice =
  'this deployment keeps its data in PostgreSQL: back that up with pg_dump, then the file store of CONVOKE_BLOBS, as in docs/guides/move-a-deployment.md#backups-of-postgresql';

/** The target may be an empty folder, so that a mounted one can be named. */
async function refuseTarget(target: string, dataDir: string): Promise<void> {
  const parent = await realpath(dirname(target)).catch(() => undefined);
  if (parent === undefined) throw new Error(`there is no folder ${dirname(target)}`);
  if (isWithin(await realpath(dataDir), join(parent, basename(target)))) {
    throw new Error('a backup inside the data folder would be lost with it: name another folder');
  }
  const names = await readdir(target).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  if (names.length > 0) throw new Error(`${target} is not empty: name a new folder`);
}

/** Where the contents of files are, if not in the data folder. */
function keptElsewhere({ cluster: { blobs } }: Config): readonly string[] {
  if (blobs.kind === 's3') return ['files: they are in the S3 store, which has backups of its own'];
  return blobs.folder === undefined ? [] : [`files: they are in ${blobs.folder}`];
}

/** Copies folders of tenants and writes down the digest of each file. */
class FolderCopies {
  readonly #from: string;
  readonly #to: string;
  readonly #digests: FileHandle;
  readonly leftOut: string[] = [];
  files = 0;
  bytes = 0;

  private constructor(from: string, to: string, digests: FileHandle) {
    this.#from = from;
    this.#to = to;
    this.#digests = digests;
  }

  static async begin(from: string, to: string): Promise<FolderCopies> {
    return new FolderCopies(from, to, await open(join(to, digestsFile), 'wx', 0o600));
  }

  async end(): Promise<void> {
    await this.#digests.sync();
    await this.#digests.close();
  }

  /** Drafts of uploads and of restored folders, whose names begin with a dot, are left out. */
  async copyAll(name: string): Promise<void> {
    for (const tenant of await this.#entries(name)) {
      if (!tenant.isDirectory() || tenant.name.startsWith('.')) continue;
      const path = `${name}/${tenant.name}`;
      await mkdir(join(this.#to, path), { recursive: true, mode: 0o700 });
      for (const entry of await this.#entries(path)) {
        const below = `${path}/${entry.name}`;
        if (entry.isDirectory()) await this.#copyFolder(below);
        else await this.#copyFile(below);
      }
    }
  }

  async note({ path, sha256 }: Pick<CopiedFile, 'path' | 'sha256'>): Promise<void> {
    await this.#digests.appendFile(digestLine(path, sha256));
  }

  async #entries(path: string) {
    return readEntries(join(this.#from, path), namesMax).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    });
  }

  async #copyFolder(path: string): Promise<void> {
    try {
      const files = copyTree(join(this.#from, path), join(this.#to, path), { left: namesMax });
      for await (const file of files) await this.#copied({ ...file, path: `${path}/${file.path}` });
    } catch (error) {
      // One agent's folder must not keep all others from being saved.
      if (!(error instanceof FolderTooLarge)) throw error;
      this.leftOut.push(`a part of ${path}: ${error.message}`);
    }
  }

  async #copyFile(path: string): Promise<void> {
    const source = await openConfined(this.#from, path);
    if (source === undefined) return;
    await this.#copied({ path, ...(await copyFile(source, join(this.#to, path))) });
  }

  async #copied(file: CopiedFile): Promise<void> {
    this.files += 1;
    this.bytes += file.bytes;
    await this.note(file);
  }
}

/** `sha256sum` marks a line whose name it had to escape with a backslash. */
function digestLine(path: string, sha256: string): string {
  const name = path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${name === path ? '' : '\\'}${sha256}  ${name}\n`;
}
