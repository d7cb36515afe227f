// Versions and the ranges of npm. Plain JavaScript that imports nothing, because the launcher of a checkout reads it on
// an old Node, before anything is installed.

/** @typedef {readonly (number | undefined)[]} Version Three numbers; undefined where the text has none, or an `x`. */

/**
 * Whether a version is in a range of npm. A part of another form counts as met, because it is no reason to warn.
 * @param {string} version
 * @param {string} range
 */
export function isInRange(version, range) {
  const own = numbersOf(version);
  return range
    .split('||')
    .some((side) =>
      (side.match(/[<>=^~]*\s*v?[\dx*][\w.*+-]*/gi) ?? []).every((part) => holds(own, part)),
    );
}

/**
 * @param {Version} own
 * @param {string} part
 */
function holds(own, part) {
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

/**
 * `^` keeps everything up to the first number that is not 0.
 * @param {Version} wanted
 */
function placesOfCaret(wanted) {
  const first = wanted.findIndex((each) => each !== 0);
  return first === -1 ? 3 : first + 1;
}

/**
 * @param {string} text
 * @returns {Version}
 */
function numbersOf(text) {
  const parts = text.split(/[-+]/)[0]?.split('.') ?? [];
  return [0, 1, 2].map((index) => {
    const part = parts[index] ?? '';
    return /^\d+$/.test(part) ? Number(part) : undefined;
  });
}

/**
 * @param {Version} own
 * @param {Version} wanted
 */
function compare(own, wanted) {
  for (const index of [0, 1, 2]) {
    const difference = (own[index] ?? 0) - (wanted[index] ?? own[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * @param {Version} own
 * @param {Version} wanted
 * @param {number} places
 */
function isSame(own, wanted, places) {
  return [0, 1, 2]
    .slice(0, places)
    .every((index) => wanted[index] === undefined || wanted[index] === own[index]);
}
