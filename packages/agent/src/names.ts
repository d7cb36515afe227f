import { Misuse } from './failures.ts';

const nameMax = 200;
const refMax = 200;
const between = ' > ';

/** A part of the agent function in which step names are numbered. */
export interface Scope {
  readonly path: string;
  readonly counts: Map<string, number>;
  readonly running: Set<string>;
}

export function newScope(path: string): Scope {
  return { path, counts: new Map(), running: new Set() };
}

export interface TakenRef {
  readonly ref: string;
  release(): void;
}

/**
 * Returns the ref of a step or scope: its path and name, and `#2` for the second one of that name (L4, D-161). Two of
 * one name at the same time are refused, because their numbers would depend on timing (D-162).
 */
export function takeName(scope: Scope, name: string, what: string): TakenRef {
  checkName(name, what);
  if (scope.running.has(name)) {
    throw new Misuse(
      `Two ${what}s named "${name}" run at the same time. Give them different names, such as "${name} <id>".`,
    );
  }
  scope.running.add(name);
  const ref = countName(scope, name);
  return { ref, release: () => scope.running.delete(name) };
}

/**
 * The ref of the request for permission for a step: its own, and another one each time it has to be asked for once
 * more.
 */
export function refOfRequest(step: string, number: number): string {
  return number === 1 ? step : fitted(`${pathBelow(step)}?${number}`);
}

/** As `takeName`, for requests that may be made several times at once. */
export function countName(scope: Scope, name: string): string {
  const count = (scope.counts.get(name) ?? 0) + 1;
  scope.counts.set(name, count);
  return fitted(`${scope.path}${count === 1 ? name : `${name}#${count}`}`);
}

export function pathBelow(ref: string): string {
  return `${ref}${between}`;
}

/**
 * Identifies what a person was shown (L11, D-166). The module is loaded on first use: that takes longer than loading
 * the kit, and many agents emit text first.
 */
export function digestOf(...shown: readonly unknown[]): string {
  const { hash } = process.getBuiltinModule('node:crypto');
  return hash('sha256', JSON.stringify(shown), 'base64url').slice(0, 16);
}

export function checkName(name: unknown, what: string): asserts name is string {
  if (typeof name !== 'string' || name === '' || name.length > nameMax) {
    throw new Misuse(`The name of a ${what} must be a string of 1 to ${nameMax} characters.`);
  }
  if (/\p{Cc}|\p{Cs}/u.test(name)) {
    throw new Misuse(`The name of ${what} ${JSON.stringify(name)} contains a control character.`);
  }
  if (name.includes(between) || /#\d+$/.test(name)) {
    throw new Misuse(
      `The name of ${what} "${name}" is reserved: a name must not contain "${between}" or end with "#" and a number.`,
    );
  }
}

/** Shortens a ref that is too long: its beginning, for people, and a digest. */
function fitted(ref: string): string {
  return ref.length <= refMax ? ref : `${ref.slice(0, 160).toWellFormed()}~${digestOf(ref)}`;
}
