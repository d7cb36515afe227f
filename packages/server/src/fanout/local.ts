import type { Fanout, Topic } from '../ports/fanout.ts';

/** One process: a wake-up is a call, so none can be lost. */
export function createLocalFanout(): Fanout {
  const listeners = new Map<Topic, Set<() => void>>();
  return {
    lossless: true,

    wake(topic) {
      for (const onWake of listeners.get(topic) ?? []) onWake();
    },

    subscribe(topic, onWake) {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(onWake));
      return () => {
        known.delete(onWake);
        if (known.size === 0 && listeners.get(topic) === known) listeners.delete(topic);
      };
    },

    async close() {
      listeners.clear();
    },
  };
}
