import type { Store } from '../../src/ports/store.ts';

/** A store that works until a test says otherwise, and again afterwards. */
export class FailingStore {
  /** What every read and every transaction meets, while it is set. */
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
