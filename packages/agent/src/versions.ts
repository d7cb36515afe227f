import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a `package.json` that versions are read from. */
interface Manifest {
  readonly version?: unknown;
  readonly engines?: { readonly node?: unknown };
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Warns of versions that may cause problems: a Node outside the range of `package.json`, and frameworks in another version
 * than the kit's adapters were tested with (D-184).
 */
export function versionWarnings(folder: string, kit: Manifest): string[] {
  const warnings: string[] = [];
  const asked = readManifest(join(folder, 'package.json'))?.engines?.node;
  const { node } = process.versions;
  if (typeof asked === 'string' && !isWithin(node, asked)) {
    warnings.push(`package.json requires Node ${asked}, but the server has ${node}`);
  }
  for (const [name, tested] of Object.entries(kit.peerDependencies ?? {})) {
    const version = readManifest(join(folder, 'node_modules', name, 'package.json'))?.version;
    if (typeof version !== 'string' || isWithin(version, tested)) continue;
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

/** Whether a version is in a range of npm. A part of another form counts as met, because it is no reason to warn. */
export function isWithin(version: string, range: string): boolean {
  const own = numbersOf(version);
  return range
    .split('||')
    .some((side) =>
      (side.match(/[<>=^~]*\s*v?[\dx*][\w.*+-]*/gi) ?? []).every((part) => holds(own, part)),
    );
}

type Version = readonly (number | undefined)[];

function holds(own: Version, part: string): boolean {
  const [, sign = '', text = ''] = /^([<>=^~]*)\s*v?(.*)$/.exec(part) ?? [];
  const wanted = numbersOf(text);
  // A prerelease, or a range of another form.
  if (/[^\d.x*]/i.test(text)) return true;
  const order = compare(own, wanted);
  switch (sign) {
    case '>=':
      return order >= 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    case '<':
      return order < 0;
    case '^':
      return order >= 0 && isSame(own, wanted, placesOfCaret(wanted));
    case '~':
      return order >= 0 && isSame(own, wanted, 2);
    default:
      return isSame(own, wanted, 3);
  }
}

/** `^` keeps everything up to the first number that is not 0. */
function placesOfCaret(wanted: Version): number {
  const first = wanted.findIndex((each) => each !== 0);
  return first === -1 ? 3 : first + 1;
}

/** Three numbers; undefined where the text has none, or an `x`. */
function numbersOf(text: string): Version {
  const parts = text.split(/[-+]/)[0]?.split('.') ?? [];
  return [0, 1, 2].map((index) => {
    const part = parts[index] ?? '';
    return /^\d+$/.test(part) ? Number(part) : undefined;
  });
}

function compare(own: Version, wanted: Version): number {
  for (const index of [0, 1, 2]) {
    const difference = (own[index] ?? 0) - (wanted[index] ?? own[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function isSame(own: Version, wanted: Version, places: number): boolean {
  return [0, 1, 2]
    .slice(0, places)
    .every((index) => wanted[index] === undefined || wanted[index] === own[index]);
}
