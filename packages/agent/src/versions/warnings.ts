import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInRange } from './range.mjs';

/** The parts of a `package.json` that versions are read from. */
interface Manifest {
  readonly version?: unknown;
  readonly engines?: { readonly node?: unknown };
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Warns of versions that may cause problems: a Node outside the range of `package.json`, and frameworks in another
 * version than the kit's adapters were tested with (D-184).
 */
export function versionWarnings(folder: string, kit: Manifest): string[] {
  const warnings: string[] = [];
  const asked = readManifest(join(folder, 'package.json'))?.engines?.node;
  const { node } = process.versions;
  if (typeof asked === 'string' && !isInRange(node, asked)) {
    warnings.push(`package.json requires Node ${asked}, but the server has ${node}`);
  }
  for (const [name, tested] of Object.entries(kit.peerDependencies ?? {})) {
    const version = readManifest(join(folder, 'node_modules', name, 'package.json'))?.version;
    if (typeof version !== 'string' || isInRange(version, tested)) continue;
    warnings.push(`${name} ${version} is installed, but @convoke/agent was tested with ${tested}`);
  }
  return warnings;
}

function readManifest(path: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
