import { setFlagsFromString } from 'node:v8';

/**
 * By then a bundle has kept its compiled code for the next start (scripts/compiled-modules.mjs): V8 takes none that was
 * kept under other flags.
 */
const afterStartMs = 2000;

/**
 * Has V8 allocate every object among the young ones, shortly after the start. It would allocate objects among the old ones
 * where most objects of the same place in the code survived a collection, as those of executing runs do in a server's first
 * seconds. A run is over before the next collection, but an old object is not collected with the young ones, nor is
 * anything that it reaches.
 */
export function keepNewObjectsYoung(): void {
  setTimeout(() => setFlagsFromString('--no-allocation-site-pretenuring'), afterStartMs).unref();
}
