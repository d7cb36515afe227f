import { AsyncResource } from 'node:async_hooks';
import type { Fanout } from '../ports/fanout.ts';

/**
 * Runs each callback in the async context of its subscriber, so that the tenant scope of the request that wakes
 * (`Store.inTenantScope`) does not leak into the workers it wakes.
 */
export function inOwnContext(fanout: Fanout): Fanout {
  return {
    lossless: fanout.lossless,
    wake: (topic) => fanout.wake(topic),
    subscribe: (topic, onWake) => {
      // `AsyncResource.bind` defines properties of the function it returns, which takes longer than all the rest.
      const context = new AsyncResource('Subscriber');
      return fanout.subscribe(topic, () => context.runInAsyncScope(onWake));
    },
    close: () => fanout.close(),
  };
}
