import type { CallOptions, Transport } from './transport.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page starts; undefined on the last one. */
  readonly nextCursor: string | undefined;
}

interface ListSource<T> {
  readonly path: string;
  /** Under which name the answer holds the items. */
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is made of a record. */
  readonly item?: (record: never) => T;
}

/**
 * A list that is fetched while it is read.
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

  /** One page: the first, or the one that `cursor` names. */
  page(): Promise<Page<T>> {
    return this.#fetch(this.#query.cursor);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let { cursor } = this.#query;
    do {
      const page = await this.#fetch(cursor);
      yield page;
      // A cursor that leads to itself would never end.
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
    // The edge: what the contract declares for this list is trusted from here on.
    const records = (answer[key] ?? []) as never[];
    return {
      items: item === undefined ? records : records.map(item),
      nextCursor: answer['next_cursor'] as string | undefined,
    };
  }
}
