import type { Fanout } from '../ports/fanout.ts';
import { Listeners } from './subscribers.ts';

/** Fan-out within one process: a wake-up is a function call, so none is lost. */
export function createLocalFanout(): Fanout {
  const listeners = new Listeners();
  return {
    lossless: true,
    wake: (topic) => listeners.wake(topic),
    subscribe: (topic, onWake) => listeners.add(topic, onWake),
    close: async () => listeners.clear(),
  };
}
