import { setFlagsFromString } from 'node:v8';

/**
 * Turns off V8's allocation-site pretenuring, so that the short-lived objects of runs stay in the young generation. V8
 * allocates in the old generation where most objects of the same allocation site survived a collection, as those of
 * executing runs do in a server's first seconds; an object there keeps everything it references until the next full
 * collection. Called once the server is ready: V8 rejects code that was cached under other flags, and by then
 * everything that a start needs has been loaded.
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
