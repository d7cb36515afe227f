/** Supports the ranges that our manifests use: `^24.18.1 || >=26.5.1`. */
export function satisfies(version: string, range: string): boolean {
  return range.split('||').some((part) => {
    const [, sign, least = ''] = /^\s*(\^|>=)([\d.]+)\s*$/.exec(part) ?? [];
    const isSameMajor = version.split('.')[0] === least.split('.')[0];
    return (sign === '>=' || isSameMajor) && isAtLeast(version, least);
  });
}

function isAtLeast(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) >= 0;
}
