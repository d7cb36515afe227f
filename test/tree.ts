// Rules about folders, names and words that the linter does not know, as functions, so that a planted offence can be
// shown to them.
import { kindOf } from './runner/kinds.ts';

const maxLines = 400;
const maxFilesOfFolder = 25;
/** One file for each step of the schema, or each run of a generator: more of them are not another thing. */
const lists = /\/(migrations\/[^/]+|generated)$/;

interface Rule {
  readonly where: RegExp;
  readonly refuses: RegExp;
  readonly because: string;
  readonly except?: RegExp;
}

/** These two name the phrases. */
const naming = /^test\/tree\./;

const names: readonly Rule[] = [
  {
    where: /\.(ts|tsx|mjs)$/,
    refuses: /(^|\/)(utils?|helpers?|common|lib)(\/|\.)|(^|\/)types\.ts$/,
    because: 'a name that says nothing; name it after the thing it holds',
  },
  {
    where: /\.(ts|tsx|mjs)$/,
    refuses: /(^|[/-])(v2|new|legacy)[-./]/,
    because: 'a name about history; there is one version of each thing',
  },
  {
    where: /\.(ts|tsx|mjs)$/,
    refuses: /(^|\/)(?![a-z0-9]+(-[a-z0-9]+)*((\.[a-z]+)?\.test|\.config)?\.\w+$)[^/]+$/,
    because: 'a file name that is not kebab-case',
  },
  {
    where: /^packages\/[^/]+\/.*\/index\.ts$/,
    refuses: /^packages\/[^/]+\/(?!src\/index\.ts$)/,
    because: "a barrel; only a package's own index.ts gathers names",
  },
];

const words: readonly Rule[] = [
  {
    where: /^packages\/server\/src\/(domain|app)\//,
    refuses: /Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|randomUUID/,
    because: 'clock or chance inside domain or app; take it as an argument or through a port',
  },
  {
    where: /\.test\.tsx?$/,
    refuses: /\b(it|test|describe|suite|bench)(\.\w+)*\.(skip|only|todo)\b|\bx(it|test|describe)\(/,
    because: 'a test that is skipped, focused or promised',
  },
  {
    where: /\.test\.tsx?$/,
    refuses: /=>\s*setTimeout\(|\b(sleep|delay)\(\s*\d/,
    because: 'a sleep in a test; await a condition or move the clock',
  },
  {
    where: /\.(ts|tsx|mjs|sql|sh|md)$|^\.ci\//,
    refuses: /\b(T[O]DO|F[I]XME|H[A]CK|X[X]X)\b/,
    because: 'work left for later inside the tree',
  },
  {
    // Not in migrations: a released one never changes.
    where: /^packages\/[^/]+\/(src|bin|scripts|convoke_agent)\/.*\.(tsx?|mjs|py)$/,
    refuses: /\b([Ww]hoever|[Nn]obody|[Ss]omebody)\b/,
    because: 'a pronoun instead of an actor; name the worker, reader, client or caller',
  },
  {
    // What people read: help, errors, descriptions, pages, guides, decisions, titles of tests. Comments too, where such
    // phrases come from.
    where:
      /^packages\/[^/]+\/(bin|scripts|src|test|convoke_agent)\/.*\.(tsx?|mjs|py)$|^(test|scripts)\/.*\.(ts|mjs|patch)$|^docs\/(decisions|guides)\/|^(docs\/)?\w+\.md$|^agents\/|^examples\//,
    refuses:
      /\b(also not|of yours|what waits|goes on|go on|going on|a look|by itself|by themselves|meanwhile|becomes of|became of|beside the plan|inside of|outside of|all the same|none the less|the leg before)\b/i,
    except: naming,
    because:
      'a phrase that sounds translated; say continues, pending, automatically, anyway or its outcome',
  },
  {
    where: /^packages\/[^/]+\/(src|convoke_agent)\/.*\.(tsx?|py)$/,
    refuses: /['"`].*\b(be|is|not|or|return|returned|with) a text\b(?! file).*['"`]/,
    except: naming,
    because: 'a message that calls a string a text; users of a language know its types',
  },
  {
    where: /^(?!.*(generated|\/migrations\/)).*\.(tsx?|mjs|py|sh)$/,
    refuses: /^(?=.{121})\s*(\/\/|\/?\*|#)/,
    because: 'a comment line of more than 120 characters; wrap it',
  },
  {
    where: /\.tsx?$/,
    refuses: /^\s*export \* from/,
    because: 'a barrel that names nothing; export explicit names',
  },
  {
    where: /(?<!^LICENSE)$/,
    refuses: /\/\/[\w.-]*(registry|artifactory|verdaccio)[\w-]*\.[\w.-]+|"resolved": "https?:/,
    because: "a package registry's host; which one to ask is the machine's business",
  },
];

/** Problems with one file of the repository, one line each. */
export function treeProblems(path: string, text: string): string[] {
  const problems = names
    .filter((rule) => rule.where.test(path) && rule.refuses.test(path))
    .map((rule) => `${path}: ${rule.because}`);
  if (path.endsWith('.test.ts') && kindOf(path) === undefined) {
    problems.push(
      `${path}: no kind of test; test/runner/kinds.ts has them, and a plain one has no word`,
    );
  }
  const lines = text.split('\n');
  // A generated file is not edited, so its length is no problem.
  if (
    /\.(ts|tsx|mjs)$/.test(path) &&
    !path.includes('/generated/') &&
    lines.length - 1 > maxLines
  ) {
    problems.push(`${path}: ${lines.length - 1} lines; split it (at most ${maxLines})`);
  }
  for (const rule of words) {
    if (!rule.where.test(path) || rule.except?.test(path) === true) continue;
    const at = lines.findIndex((line) => rule.refuses.test(line));
    if (at !== -1) problems.push(`${path}:${at + 1}: ${rule.because}`);
  }
  return problems;
}

/** Folders of sources with too many files on one level, one line each. */
export function folderProblems(paths: readonly string[]): string[] {
  const sources = paths.filter((path) => /^packages\/[^/]+\/src\//.test(path));
  const folders = Map.groupBy(sources, (path) => path.slice(0, path.lastIndexOf('/')));
  return Array.from(folders)
    .filter(([folder, files]) => files.length > maxFilesOfFolder && !lists.test(folder))
    .map(
      ([folder, { length }]) =>
        `${folder}: ${length} files; split it (at most ${maxFilesOfFolder})`,
    );
}

/** The files in the tables of a page; a heading names the folder of those below it. */
export function listedFiles(markdown: string): string[] {
  let folder = '';
  return markdown.split('\n').flatMap((line) => {
    folder = /^### .*`([^`]+)`$/.exec(line)?.[1] ?? folder;
    const [, file] = /^\| `([^`]+\.ts)` \|/.exec(line) ?? [];
    return folder === '' || file === undefined ? [] : [`${folder}/${file}`];
  });
}
