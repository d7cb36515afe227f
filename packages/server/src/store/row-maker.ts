/** Makes an object of the values of a row. */
export type RowMaker = (values: readonly unknown[]) => Record<string, unknown>;

/** A function with a literal in it: only objects made by one literal are fast to make and to read. */
export function rowMaker(names: readonly string[]): RowMaker {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are columns of our own statements, and quoted
  return new Function('values', `return { ${fields.join(', ')} };`) as RowMaker;
}
