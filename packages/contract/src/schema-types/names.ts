/** `run_started` as `RunStarted`. */
export function pascal(name: string): string {
  return name.replace(/(^|_)([a-z])/g, (_, _edge, letter: string) => letter.toUpperCase());
}

/** Any text as a part of the name of a type: `first-name` as `FirstName`. */
export function typeName(name: string): string {
  return pascal(name)
    .replace(/[^A-Za-z0-9_]+(.)?/g, (_, letter: string = '') => letter.toUpperCase())
    .replace(/[^A-Za-z0-9_]/g, '');
}

/** A description on one line: it is written by other people, and stands in a comment or beside code. */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
}

/** A name that is not taken: with a number, if it has to be. */
export function freeName(name: string, taken: (name: string) => boolean): string {
  if (!taken(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!taken(`${name}${number}`)) return `${name}${number}`;
  }
}
