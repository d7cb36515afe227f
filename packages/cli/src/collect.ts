/** Reads a list into an array, up to `limit` items. */
export async function collect<T>(list: AsyncIterable<T>, limit = 1000): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) {
    items.push(item);
    if (items.length === limit) break;
  }
  return items;
}
