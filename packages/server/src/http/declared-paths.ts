import { type Method, type Operation, pathParams } from '@convoke/contract';

type RoutedMethod = Method | 'HEAD';

/** One path that operations declare, with what they take there. */
interface DeclaredPath {
  readonly path: string;
  readonly pattern: RegExp;
  readonly operations: Operation[];
}

/** A pair of path and method that no operation declares, although the router would find one. */
interface Shadow {
  readonly path: string;
  readonly methods: readonly RoutedMethod[];
}

/** The methods that Convoke uses, in the order of `Allow`. */
export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The methods of a page, which is not an operation. Node leaves the body of an answer to HEAD out. */
export const pageMethods = ['GET', 'HEAD'] satisfies RoutedMethod[];

/**
 * RFC 9110 section 9.1: HEAD works wherever GET does. A stream has no length and no end to tell, so it has no HEAD
 * (D-273).
 */
export function methodsOf({ method, responses }: Operation): readonly RoutedMethod[] {
  const isStream = Object.values(responses).some(({ stream }) => stream !== undefined);
  return method === 'GET' && !isStream ? ['GET', 'HEAD'] : [method];
}

/** Where an operation is. */
export function pathsOf({ path, endsInSlash }: Operation): readonly string[] {
  return endsInSlash === 'too' ? [path, `${path}/`] : [path];
}

/**
 * Knows which methods operations declare at a path. The router knows it for one method at a time, and takes any text
 * for an id.
 */
export class DeclaredPaths {
  readonly #paths: readonly DeclaredPath[];

  constructor(operations: readonly Operation[]) {
    const paths = new Map<string, DeclaredPath>();
    for (const operation of operations) {
      for (const path of pathsOf(operation)) {
        const known = paths.get(path) ?? { path, pattern: patternOf(path), operations: [] };
        known.operations.push(operation);
        paths.set(path, known);
      }
    }
    // Literal text first: `…/m2m/profiles` is not the path of a client.
    this.#paths = [...paths.values()].toSorted(
      (a, b) => pathParams(a.path).length - pathParams(b.path).length,
    );
  }

  /** For `Allow` (RFC 9110 section 15.5.6). Empty where no operation is. */
  methodsAt(path: string): readonly RoutedMethod[] {
    const found = this.#paths.find((declared) => isAt(declared, path));
    return found === undefined ? [] : allowedAt(found);
  }

  /**
   * What the router must refuse on its own, because it would take the literal text of one path for the id of another.
   */
  shadows(): readonly Shadow[] {
    return this.#paths.flatMap((declared) => {
      const example = declared.path.replaceAll(/\{\w+\}/g, 'x');
      const others = this.#paths.filter(
        (other) => other !== declared && other.pattern.test(example),
      );
      const allowed = allowedAt(declared);
      const taken = new Set(others.flatMap(allowedAt));
      const methods = [...taken].filter((method) => !allowed.includes(method));
      return methods.length === 0 ? [] : [{ path: declared.path, methods }];
    });
  }
}

function allowedAt({ operations }: DeclaredPath): readonly RoutedMethod[] {
  const declared = new Set(operations.flatMap(methodsOf));
  return routedMethods.filter((method) => declared.has(method));
}

/** As the router matches it: a parameter is anything without a slash. */
function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.:]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** D-01: a segment that is not an id names nothing, so no operation is there. */
function isAt({ pattern, operations }: DeclaredPath, path: string): boolean {
  const groups = pattern.exec(path)?.groups ?? (pattern.test(path) ? {} : undefined);
  if (groups === undefined) return false;
  const schemas = Object.entries(operations[0]?.params ?? {});
  return schemas.every(([name, schema]) => schema.safeParse(decoded(groups[name])).success);
}

function decoded(segment: string | undefined): string | undefined {
  try {
    return decodeURIComponent(segment ?? '');
  } catch {
    return undefined;
  }
}
