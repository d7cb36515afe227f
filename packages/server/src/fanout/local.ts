import type { Fanout } from '../ports/fanout.ts';
import { Listeners } from './listeners.ts';

/** One process: a wake-up is a call, so none can be lost. */
export function createLocalFanout(): Fanout {
  const listeners = new Listeners();
  return {
    lossless: true,
    wake: (topic) => listeners.wake(topic),
    subscribe: (topic, onWake) => listeners.add(topic, onWake),
    close: async () => listeners.clear(),
  };
}
