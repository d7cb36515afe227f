/**
 * A map whose removed values are freed by a minor garbage collection.
 *
 * While entries come and go, V8 replaces the table of a `Map` again and again. It links the old table to the new one,
 * and leaves in it the entries of that moment. Once a table is in the old generation, all later ones survive with it
 * until the next full collection, with everything that their entries reference. So the table of this map holds small
 * boxes, which are emptied when their entry is removed.
 */
export class ReleasingMap<Key, Value> {
  readonly #boxes = new Map<Key, Box<Value>>();

  get size(): number {
    return this.#boxes.size;
  }

  get(key: Key): Value | undefined {
    return this.#boxes.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#boxes.has(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#boxes.set(key, { value });
  }

  delete(key: Key): boolean {
    const box = this.#boxes.get(key);
    if (box !== undefined) box.value = undefined;
    return this.#boxes.delete(key);
  }

  keys(): MapIterator<Key> {
    return this.#boxes.keys();
  }

  *values(): Generator<Value> {
    for (const { value } of this.#boxes.values()) if (value !== undefined) yield value;
  }

  *entries(): Generator<[Key, Value]> {
    for (const [key, { value }] of this.#boxes) if (value !== undefined) yield [key, value];
  }
}

interface Box<Value> {
  value: Value | undefined;
}
