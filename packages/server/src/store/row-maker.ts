/** Makes an object of the values of a row. */
export type RowMaker = (values: readonly unknown[]) => Record<string, unknown>;

/** A function with a literal in it: only objects made by one literal are fast to make and to read. */
export function rowMaker(names: readonly string[]): RowMaker {
  const entries = names.map((name, index) => ({ name, source: `values[${index}]` }));
  return generated({ of: 'values', as: 'object', entries });
}

interface Entry {
  readonly name: string;
  /** An expression over the given value, which may call `call` by its name. */
  readonly source: string;
  readonly call?: ((given: never) => unknown) | undefined;
}

interface LiteralParts {
  /** Name of the value that the literal is made of. */
  readonly of: string;
  readonly as: 'object' | 'array';
  readonly entries: readonly Entry[];
  /** Name under which a source calls the function of its entry. */
  readonly callName?: string;
}

type MakerOf<Given, Made> = (...calls: readonly unknown[]) => (given: Given) => Made;

/** Generates a function that returns one literal, an expression for each entry. */
export function generated<Given, Made>(parts: LiteralParts): (given: Given) => Made {
  const { of, as, entries, callName = 'call' } = parts;
  const sources = entries.map(({ name, source }, index) => {
    const value = source.replace(`${callName}(`, `${callName}${index}(`);
    return as === 'array' ? value : `${JSON.stringify(name)}: ${value}`;
  });
  const called = entries.flatMap(({ call }, index) => (call ? [`${callName}${index}`] : []));
  const literal = as === 'array' ? `[${sources.join(', ')}]` : `{ ${sources.join(', ')} }`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are columns and fields of our own tables
  const make = new Function(...called, `return (${of}) => (${literal});`) as MakerOf<Given, Made>;
  return make(...entries.flatMap(({ call }) => call ?? []));
}
