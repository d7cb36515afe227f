// Which way imports may point: one line per folder. A folder may always import itself.
import { posix } from 'node:path';

const rules = ['contract', 'faces', 'server/domain'];
const ports = [...rules, 'server/ports'];
/** What the process itself provides: clocks, ids, deadlines, bounded memory. Every part with effects may use it. */
const runtime = [...ports, 'server/runtime'];
const useCases = [...runtime, 'server/app'];
const harness = [
  ...runtime,
  'server/harness',
  'server/agents',
  'server/confined-fs',
  'server/egress',
  'server/sandbox',
];
/** The floors of the console: each knows those before it. */
const consoleFloors = ['data', 'page', 'session', 'parts', 'screens', 'frame', 'main'];

const mayImport: Record<string, readonly string[]> = {
  contract: [],
  // Pure, and part of the SDK: it runs in browsers.
  faces: [],
  agent: [],
  'api-page': ['contract'],
  sdk: ['faces'],
  'console/data': ['faces', 'sdk'],
  'console/page': consoleBelow('page'),
  'console/session': consoleBelow('session'),
  'console/parts': consoleBelow('parts'),
  'console/screens': consoleBelow('screens'),
  'console/frame': consoleBelow('frame'),
  'console/main': consoleBelow('main'),
  // Written from the specification alone (D-227).
  conformance: [],
  cli: ['agent', 'contract', 'faces', 'sdk', 'server/index', 'server/config'],
  'server/domain': ['contract', 'faces'],
  'server/ports': rules,
  'server/app': runtime,
  'server/execution': useCases,
  'server/workers': [...useCases, 'server/execution', 'server/auth'],
  'server/auth': useCases,
  'server/http': [...useCases, 'server/auth', 'api-page'],
  'server/confined-fs': runtime,
  'server/egress': runtime,
  'server/agents': [...runtime, 'server/confined-fs'],
  'server/session-folders': [...runtime, 'server/confined-fs'],
  'server/sandbox': [...runtime, 'server/egress'],
  'server/harness': [...runtime, 'server/agents'],
  'server/harness/*': harness,
  // Agents as code are programs of `stdio` with a kit.
  'server/harness/code': [...harness, 'server/harness/stdio'],
  'server/store': runtime,
  'server/fanout': runtime,
  'server/blobs': runtime,
  'server/telemetry': ports,
  'server/runtime': ports,
  'server/config': ports,
  'server/quickstart': [...useCases, 'server/auth'],
  'server/main': [...runtime, 'server/config', 'server/compose'],
  'server/index': [
    ...ports,
    'server/config',
    'server/compose',
    'server/main',
    'server/operate',
    'server/quickstart',
  ],
};

// Only these two name adapters, so they alone may import everything.
const compositions: readonly string[] = ['server/compose', 'server/operate'];

// Parts that are pure, or that a browser loads, choose their packages from a list; the others are free.
const mayUse: Record<string, readonly string[]> = {
  contract: ['zod'],
  faces: [],
  conformance: ['node:'],
  // Asked with a time it is pure: it reads no clock.
  'server/domain': ['croner'],
  'server/ports': ['node:'],
  'server/app': ['node:'],
};

// A package that serves one layer is imported by that layer only.
const belongsTo: Record<string, readonly string[]> = {
  fastify: ['server/http'],
  pg: ['server/store', 'server/fanout'],
  '@opentelemetry/api': ['server/telemetry'],
  '@opentelemetry/context-async-hooks': ['server/telemetry'],
  '@opentelemetry/otlp-exporter-base': ['server/telemetry'],
  '@opentelemetry/otlp-exporter-base/node-http': ['server/telemetry'],
  '@opentelemetry/otlp-transformer': ['server/telemetry'],
  '@opentelemetry/resources': ['server/telemetry'],
  '@opentelemetry/sdk-metrics': ['server/telemetry'],
  '@opentelemetry/sdk-trace': ['server/telemetry'],
  'node:sqlite': ['server/store', 'server/runtime'],
  // Names are looked up with a bound and a time limit.
  'node:dns': ['server/egress'],
  'node:dns/promises': ['server/egress'],
};

/** What a floor of the console may import: the SDK and every floor below. */
function consoleBelow(floor: string): string[] {
  const below = consoleFloors.slice(0, consoleFloors.indexOf(floor));
  return ['sdk', ...below.map((name) => `console/${name}`)];
}

/** Problems with the imports of one source file of a package, one line each. */
export function importProblems(path: string, source: string): string[] {
  const from = partOf(path);
  if (from === undefined) return [`${path}: stands in no part that the layout knows`];
  return specifiersIn(source).flatMap((specifier) => {
    const problem = problemOf(path, from, specifier);
    return problem === undefined ? [] : [`${path}: imports ${specifier}: ${problem}`];
  });
}

/**
 * Of a package, `scripts` may import programs that build it, and its command; the launcher runs before anything else.
 */
const doors = /^packages\/(launch\/src|[^/]+\/(bin|scripts))\//;

/**
 * Problems with the imports between `scripts` and the packages, one line each: they point from `scripts` to packages.
 */
export function checkoutProblems(path: string, source: string): string[] {
  const home = path.split('/').slice(0, 2).join('/');
  return specifiersIn(source).flatMap((specifier) => {
    const isPath = specifier.startsWith('.');
    const target = isPath ? posix.join(posix.dirname(path), specifier) : specifier;
    const isWrong = path.startsWith('scripts/')
      ? isPath && target.startsWith('packages/') && !doors.test(target)
      : target.startsWith('scripts/') || (home === 'packages/launch' && !isOfLauncher(target));
    return isWrong ? [`${path}: imports ${specifier}`] : [];
  });
}

/** The launcher runs before anything is installed; what it shares with a published package imports nothing. */
function isOfLauncher(target: string): boolean {
  const isShared = target === 'packages/agent/src/versions/range.mjs';
  return isShared || target.startsWith('packages/launch/') || target.startsWith('node:');
}

/**
 * Files that import each other in a circle, one line for each circle. The linter does not follow `import()`, this does;
 * of Python it also follows imports in functions and those for types only.
 */
export function importCircles(sources: ReadonlyMap<string, string>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    const at = above.indexOf(path);
    if (at !== -1) circles.push([...above.slice(at), path].join(' → '));
    if (at !== -1 || done.has(path)) return;
    const source = sources.get(path) ?? '';
    const targets = path.endsWith('.py') ? pythonTargets(path, source) : targetsIn(path, source);
    for (const target of targets) if (sources.has(target)) visit(target, [...above, path]);
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return circles;
}

function targetsIn(path: string, source: string): string[] {
  const own = specifiersIn(source).filter((specifier) => specifier.startsWith('.'));
  return own.map((specifier) => posix.join(posix.dirname(path), specifier));
}

/** What `from ..a import b` may name: the file `a.py`, or `b.py` in the folder `a`. */
function pythonTargets(path: string, source: string): string[] {
  const statement = /^[ \t]*from (\.+)([\w.]*) import (?:\(([^)]*)\)|([^\n#]*))/gm;
  return Array.from(source.matchAll(statement)).flatMap(
    ([, dots = '', name = '', inside, list]) => {
      const up = '../'.repeat(dots.length - 1);
      const at = posix.join(posix.dirname(path), up, name.replaceAll('.', '/'));
      const taken = (inside ?? list ?? '').matchAll(/(\w+)(?: as \w+)?/g);
      return [`${at}.py`, ...Array.from(taken, ([, each]) => `${at}/${each}.py`)];
    },
  );
}

function problemOf(path: string, from: string, specifier: string): string | undefined {
  const isOurs = specifier.startsWith('.') || specifier.startsWith('@convoke/');
  if (!isOurs) return packageProblem(from, specifier);

  const to = specifier.startsWith('.') ? resolve(path, specifier) : packageEntry(specifier);
  if (to === 'manifest') return undefined;
  if (to === undefined) return 'it leads out of its package';
  if (to === from || compositions.includes(from)) return undefined;
  const allowed =
    mayImport[from] ?? mayImport[from.replace(/^(server\/harness)\/.+/, '$1/*')] ?? [];
  return allowed.includes(to) ? undefined : `${from} may not know ${to}`;
}

function packageProblem(from: string, specifier: string): string | undefined {
  const home = belongsTo[specifier];
  if (home !== undefined && !home.includes(from) && !compositions.includes(from)) {
    return `only ${home.join(' and ')} may use it`;
  }
  const allowed = mayUse[from];
  if (allowed === undefined || allowed.includes(specifier)) return undefined;
  return allowed.includes('node:') && specifier.startsWith('node:') && home === undefined
    ? undefined
    : `${from} may not use it`;
}

function resolve(path: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  const home = path.split('/').slice(0, 2).join('/');
  if (target === `${home}/package.json`) return 'manifest';
  return target.startsWith(`${home}/src/`) ? partOf(target) : undefined;
}

function packageEntry(specifier: string): string | undefined {
  const [, name = '', entry = 'index'] = specifier.split('/');
  if (name === 'server') return `server/${entry}`;
  return name in mayImport ? name : undefined;
}

function partOf(path: string): string | undefined {
  const [, name, folder, ...inside] = path.split('/');
  if (name === undefined || folder !== 'src' || inside.length === 0) return undefined;
  if (name !== 'server' && name !== 'console') return name in mayImport ? name : undefined;
  const top = `${name}/${inside[0]?.replace(/\.tsx?$/, '')}`;
  if (compositions.includes(top)) return top;
  if (top === 'server/harness' && inside.length > 2) return `${top}/${inside[1]}`;
  return top in mayImport ? top : undefined;
}

function specifiersIn(source: string): string[] {
  const statement = /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm;
  const bare = /^\s*import\s*['"]([^'"]+)['"]/gm;
  const dynamic = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [statement, bare, dynamic].flatMap((pattern) =>
    [...source.matchAll(pattern)].flatMap((match) => match[1] ?? []),
  );
}
