/** The packages that people install from npm, each after those it depends on. `npm run build` makes them. */
export const publishedPackages = /** @type {const} */ ([
  'contract',
  'faces',
  'api-page',
  'agent',
  'sdk',
  'server',
  'cli',
  'conformance',
]);
