import type { Fanout } from '../ports/fanout.ts';
import { Subscribers } from './subscribers.ts';

/** Fan-out within one process: a wake-up is a function call, so none is lost. */
export function createLocalFanout(): Fanout {
  const subscribers = new Subscribers();
  return {
    lossless: true,
    wake: (topic) => subscribers.wake(topic),
    subscribe: (topic, onWake) => subscribers.add(topic, onWake),
    close: async () => subscribers.clear(),
  };
}
