import { readFileSync } from 'node:fs';

/** Returns the version of this package. It is read, not imported: Node 20 warns of an imported JSON file. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
