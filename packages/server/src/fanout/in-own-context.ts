import { AsyncResource } from 'node:async_hooks';
import type { Fanout } from '../ports/fanout.ts';

/**
 * Whoever is woken goes on with work of their own, not with that of who woke them: for whom a request works
 * (`Store.confine`) must not reach the workers it wakes.
 */
export function inOwnContext(fanout: Fanout): Fanout {
  return {
    lossless: fanout.lossless,
    wake: (topic) => fanout.wake(topic),
    subscribe: (topic, onWake) => fanout.subscribe(topic, AsyncResource.bind(onWake)),
    close: () => fanout.close(),
  };
}
