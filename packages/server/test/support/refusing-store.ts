import type { Store, StoreTransaction } from '../../src/ports/store.ts';

/** What a database says about a text that it cannot store. */
export const refusal = new Error('invalid byte sequence');

/** For `wrapStore`: a database that refuses every statement with this word in it, for a reason that nothing foresaw. */
export function refusingStore(word: string): (store: Store) => Store {
  const refusing = (part: object): object => overriding(part, guarded);
  const guarded = (method: unknown, part: object) => {
    if (typeof method !== 'function') return method;
    return (...given: readonly unknown[]): unknown => {
      if (JSON.stringify(given).includes(word)) throw refusal;
      return Reflect.apply(method, part, given);
    };
  };
  const around = (tx: StoreTransaction): StoreTransaction =>
    overriding(tx, (part) => {
      if (typeof part === 'function') return part.bind(tx);
      return typeof part === 'object' && part !== null ? refusing(part) : part;
    });
  return (store) =>
    overriding(store, (member, _, name) => {
      if (name !== 'transaction') return typeof member === 'function' ? member.bind(store) : member;
      const transaction: Store['transaction'] = (work) =>
        store.transaction((tx) => work(around(tx)));
      return transaction;
    });
}

function overriding<Target extends object>(
  target: Target,
  replace: (member: unknown, target: Target, name: string | symbol) => unknown,
): Target {
  return new Proxy(target, {
    get: (_, name) => replace(Reflect.get(target, name, target), target, name),
  });
}
