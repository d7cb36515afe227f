import type { CallOptions, Transport } from './transport.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; undefined on the last page. */
  readonly nextCursor: string | undefined;
}

interface ListSource<T> {
  readonly path: string;
  /** Name of the field with the items. */
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Converts a record into an item. */
  readonly item?: (record: never) => T;
}

/**
 * A list that fetches pages while it is read.
 *
 * @example
 * for await (const session of convoke.sessions.list({ status: 'waiting' })) console.log(session.id);
 * const { items, nextCursor } = await convoke.sessions.list({ limit: 20, cursor }).page();
 */
export class Listing<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #source: ListSource<T>;
  readonly #query: CallOptions & { readonly cursor?: string | undefined };

  constructor(
    transport: Transport,
    source: ListSource<T>,
    query: CallOptions & { readonly cursor?: string | undefined },
  ) {
    this.#transport = transport;
    this.#source = source;
    this.#query = query;
  }

  /** Fetches one page: the first, or the one of `cursor`. */
  page(): Promise<Page<T>> {
    return this.#fetch(this.#query.cursor);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let { cursor } = this.#query;
    do {
      const page = await this.#fetch(cursor);
      yield page;
      // A cursor that points to itself would loop forever.
      cursor = page.nextCursor === cursor ? undefined : page.nextCursor;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  async #fetch(cursor: string | undefined): Promise<Page<T>> {
    const { path, key, headers = {}, item } = this.#source;
    const { signal, ...query } = this.#query;
    const answer = await this.#transport.json<Record<string, unknown>>({
      method: 'GET',
      path,
      headers,
      query: { ...query, cursor },
      signal,
    });
    // The items are trusted to match the contract from here on.
    const records = (answer[key] ?? []) as never[];
    return {
      items: item === undefined ? records : records.map(item),
      nextCursor: answer['next_cursor'] as string | undefined,
    };
  }
}
