// Makes the blocking client from the asynchronous one, so that both have the same methods (D-370): the names lose
// their `Async`, and calls are no longer awaited.
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]'],
  [/\bAsyncGenerator\b/g, 'Generator'],
  [/\b_async\b/g, '_sync'],
  [/\basync_resources as resources\b/g, 'resources'],
  [/\basync_resources\b/g, 'resources'],
  [/\bStreamTransport\b/g, 'SocketTransport'],
  [/\bAsync([A-Z])/g, '$1'],
  [/\b__a(iter|enter|exit)__\b/g, '__$1__'],
];

export function blocking(text: string, origin: string): string {
  const changed = replacements.reduce((made, [from, to]) => made.replace(from, to), text);
  return `# Generated from ${origin} by packages/python/scripts/write-wire.ts. Do not edit.\n${changed}`;
}
