import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolderSync } from '../../../../../test/remove-folder.ts';

/** A file system of a few megabytes. Mounting one needs root. */
export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'convoke-disk-'));
  readonly #ballast = join(this.folder, 'ballast');

  constructor(mebibytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', this.folder]);
  }

  /** Leaves not one page. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (const size of [1024 * 1024, 4096, 1]) {
        const block = new Uint8Array(size);
        while (writes(file, block));
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#ballast);
  }

  remove(): void {
    // Lazily: a server that a failed test left running must not keep the mount.
    execFileSync('umount', ['-l', this.folder]);
    removeFolderSync(this.folder);
  }
}

function writes(file: number, block: Uint8Array): boolean {
  try {
    return writeSync(file, block) === block.length;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
