import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 allocate every object among the young ones. It would allocate objects among the old ones where most objects of the
 * same place in the code survived a collection, as those of executing runs do in a server's first seconds. A run is over
 * before the next collection, but an old object is not collected with the young ones, nor is anything that it reaches.
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
