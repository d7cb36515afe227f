import type { RE2JS } from 're2js';

/** The part of a regular expression that schemas use. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
  /** How many steps of a check a character takes. */
  readonly stepsPerCharacter: number;
}

export interface LinearPatterns {
  /** Returns the problem of a pattern; undefined if it has none. */
  problemOf(pattern: string): string | undefined;
  compile(pattern: string): LinearPattern;
}

/**
 * Loads the engine of `pattern`, whose time grows with the length of the text alone: inputs come from anyone, and 28
 * characters can hold the engine of the language for seconds (D-561). `\s`, `\d` and `\w` mean characters of ASCII in
 * it.
 */
export async function loadLinearPatterns(): Promise<LinearPatterns> {
  const { RE2JS: Engine } = await import('re2js');
  return {
    problemOf(pattern) {
      try {
        // Clients compile the pattern with the engine of JavaScript, so it has to be valid there, too.
        new RegExp(pattern, 'u');
      } catch {
        return 'is not a regular expression';
      }
      try {
        compiled(Engine, pattern);
        return undefined;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown';
        return `cannot be checked in linear time: a pattern takes no look-around, no back-references and no repeats above 1000 (${reason.slice(0, 200)})`;
      }
    },
    compile: (pattern) => compiled(Engine, pattern),
  };
}

function compiled(Engine: typeof RE2JS, pattern: string): LinearPattern {
  const expression = Engine.compile(Engine.translateRegExp(pattern));
  const isOnePass = expression.re2().onepass !== null;
  return {
    test: (text) => expression.test(text),
    // The validator takes two expressions with the same text for one.
    toString: () => pattern,
    stepsPerCharacter: isOnePass ? onePassSteps : expression.programSize() * instructionSteps,
  };
}

/** Of an expression of which the next character always decides, whatever its size. */
const onePassSteps = 6;
/** Of any other one, which may be at each of its instructions after each character. */
const instructionSteps = 1.5;
