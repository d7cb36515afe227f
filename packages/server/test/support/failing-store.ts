import type { Store } from '../../src/ports/store.ts';

/** A store that fails while a test wants it to. */
export class FailingStore {
  /** While set, every read and every transaction throws it. */
  fault: Error | undefined;

  /** For `wrapStore`. */
  readonly wrap = (store: Store): Store => this.#around(store);

  #around<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member === 'function') return this.#guarded(member.bind(target));
        return typeof member === 'object' && member !== null ? this.#around(member) : member;
      },
    });
  }

  #guarded(call: (...args: readonly unknown[]) => unknown) {
    return (...args: readonly unknown[]) =>
      this.fault === undefined ? call(...args) : Promise.reject(this.fault);
  }
}
