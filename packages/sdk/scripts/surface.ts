// The public surface of a package as text: what each entry exports, with types and without comments, then the
// declarations that these refer to. It is checked in, so that a review sees each change of it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { compile, declarationsOf } from './built-files.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface SurfacePackage {
  /** Its folder below `packages`. */
  readonly folder: string;
  readonly name: string;
  /** The source of each entry, by the name that follows that of the package. */
  readonly entries: Readonly<Record<string, string>>;
  readonly compilerOptions?: object;
}

export async function surfaceOf(one: SurfacePackage): Promise<string> {
  const home = join(root, 'packages', one.folder);
  const folder = await mkdtemp(join(tmpdir(), 'convoke-surface-'));
  try {
    const config = join(folder, 'tsconfig.json');
    const files = Object.values(one.entries).map((path) => join(home, path));
    await writeFile(config, JSON.stringify(compilation(home, files, one.compilerOptions)));
    const emitted = join(folder, 'emitted');
    compile(config, emitted);
    return describe(one, emitted);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function compilation(home: string, files: readonly string[], compilerOptions: object = {}) {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      allowJs: true,
      checkJs: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: home,
      typeRoots: [join(root, 'node_modules/@types')],
      ...compilerOptions,
    },
    files,
    include: [],
  };
}

function describe({ name, entries }: SurfacePackage, emitted: string): string {
  const paths = Object.entries(entries).map(
    ([entry, path]) => [entry, join(emitted, declarationsOf(path))] as const,
  );
  const program = ts.createProgram(
    paths.map(([, path]) => path),
    { module: ts.ModuleKind.NodeNext, noLib: true, types: [], allowImportingTsExtensions: true },
  );
  const declarations = new Declarations(program, emitted);
  const sections = paths.map(([entry, path]) => {
    const exported = declarations.exportedBy(path);
    const lines = exported.map(([as, own]) => (as === own ? as : `${own} as ${as}`));
    return `// ${name}${entry.slice(1)}\n${lines.join('\n')}\n`;
  });
  return `${sections.join('\n')}\n${declarations.texts().join('\n\n')}\n`;
}

/** Declarations of a program that stand in one folder and that exports lead to. */
class Declarations {
  readonly #checker: ts.TypeChecker;
  readonly #program: ts.Program;
  readonly #folder: string;
  readonly #found = new Map<ts.Symbol, string>();
  readonly #printer = ts.createPrinter({ removeComments: true });

  constructor(program: ts.Program, folder: string) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
    this.#folder = folder;
  }

  /** The names that a module exports, each with the name of its declaration. */
  exportedBy(path: string): [string, string][] {
    const source = this.#program.getSourceFile(path);
    const module = source && this.#checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${path} exports nothing`);
    return this.#checker
      .getExportsOfModule(module)
      .map((symbol): [string, string] => [symbol.name, this.#add(symbol)])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  texts(): string[] {
    return [...this.#found.values()].sort();
  }

  #add(given: ts.Symbol): string {
    const symbol =
      given.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(given) : given;
    const declared = (symbol.declarations ?? []).filter(
      (node) => node.getSourceFile().fileName.startsWith(this.#folder) && isNamed(node),
    );
    if (declared.length === 0 || this.#found.has(symbol)) return symbol.name;
    this.#found.set(symbol, declared.map((node) => this.#textOf(node)).join('\n'));
    for (const node of declared) this.#addReferences(node);
    return symbol.name;
  }

  #addReferences(node: ts.Node): void {
    const symbol = ts.isIdentifier(node) ? this.#checker.getSymbolAtLocation(node) : undefined;
    if (symbol !== undefined) this.#add(symbol);
    ts.forEachChild(node, (child) => this.#addReferences(child));
  }

  #textOf(node: ts.Node): string {
    const text = this.#printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
    const isVariable = ts.isVariableDeclaration(node);
    return (isVariable ? `const ${text};` : text)
      .replace(/^(export |declare )+/, '')
      .replaceAll(/^ +(#private|private \w+);\n/gm, '');
  }
}

/** Parameters and members are part of the text of what declares them. */
function isNamed(node: ts.Node): boolean {
  return (
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node)
  );
}
