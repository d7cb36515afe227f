import type { LookupAddress } from 'node:dns';
import { open } from 'node:fs/promises';
import { isIP } from 'node:net';

/** What is behind this in the file is not read. */
const bytesMax = 1024 * 1024;

/** The names of a hosts file (`hosts(5)`). Reads the file again after it has changed. */
export class HostsFile {
  readonly #path: string;
  #seen = '';
  #names: ReadonlyMap<string, readonly LookupAddress[]> = new Map();

  constructor(path = '/etc/hosts') {
    this.#path = path;
  }

  /** The addresses of a name in lower case; none when the file does not have it or cannot be read. */
  async addressesOf(name: string): Promise<readonly LookupAddress[]> {
    const file = await open(this.#path).catch(() => undefined);
    if (file === undefined) return [];
    try {
      const { mtimeMs, size, ino } = await file.stat();
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version !== this.#seen) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, bytesMax)));
        this.#names = readHosts(buffer.toString('utf8', 0, bytesRead));
        this.#seen = version;
      }
      return this.#names.get(name) ?? [];
    } catch {
      return [];
    } finally {
      await file.close();
    }
  }
}

function readHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...own] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of own) {
      const key = name.toLowerCase();
      const known = names.get(key);
      if (known === undefined) names.set(key, [{ address, family }]);
      else known.push({ address, family });
    }
  }
  return names;
}
