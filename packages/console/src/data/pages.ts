import { type ReadonlySignal, type Signal, batch, signal } from '@preact/signals';

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | undefined;
}

/** Beyond this a person filters instead of reading on. */
const maxRows = 2000;

/**
 * A list that grows by pages. A refresh reads the first page again and keeps the rows of the later ones, so that a list
 * does not become shorter under the reader.
 */
export class PagedList<T> {
  readonly #rows: Signal<readonly T[] | undefined> = signal(undefined);
  readonly #error: Signal<unknown> = signal(undefined);
  readonly #isLoading = signal(false);
  readonly #hasMore = signal(false);
  readonly #read: (cursor: string | undefined) => Promise<PageOf<T>>;
  readonly #idOf: (row: T) => string;
  #cursor: string | undefined;
  #pages = 0;
  #current: Promise<void> | undefined;
  #again = false;

  constructor(read: (cursor: string | undefined) => Promise<PageOf<T>>, idOf: (row: T) => string) {
    this.#read = read;
    this.#idOf = idOf;
  }

  get rows(): ReadonlySignal<readonly T[] | undefined> {
    return this.#rows;
  }

  get error(): ReadonlySignal<unknown> {
    return this.#error;
  }

  get isLoading(): ReadonlySignal<boolean> {
    return this.#isLoading;
  }

  get hasMore(): ReadonlySignal<boolean> {
    return this.#hasMore;
  }

  refresh(): Promise<void> {
    if (this.#current !== undefined) {
      this.#again = true;
      return this.#current;
    }
    return this.#start(async () => {
      do {
        this.#again = false;
        this.#first(await this.#read(undefined));
      } while (this.#again);
    });
  }

  more(): Promise<void> {
    const cursor = this.#cursor;
    if (this.#current !== undefined || cursor === undefined) return Promise.resolve();
    return this.#start(async () => this.#next(await this.#read(cursor)));
  }

  /** Changes a row in place, also one of a later page, which a refresh does not read. */
  update(id: string, change: (row: T) => T): void {
    const rows = this.#rows.value;
    if (rows?.some((row) => this.#idOf(row) === id) !== true) return;
    this.#rows.value = rows.map((row) => (this.#idOf(row) === id ? change(row) : row));
  }

  #start(work: () => Promise<void>): Promise<void> {
    this.#isLoading.value = true;
    this.#current = work()
      .then(
        () => {
          this.#error.value = undefined;
        },
        (error: unknown) => {
          this.#error.value = error;
        },
      )
      .finally(() => {
        this.#current = undefined;
        this.#isLoading.value = false;
      });
    return this.#current;
  }

  #first(page: PageOf<T>): void {
    const isShort = this.#pages <= 1;
    const ids = new Set(page.items.map(this.#idOf));
    const later = isShort
      ? []
      : (this.#rows.value ?? []).filter((row) => !ids.has(this.#idOf(row)));
    batch(() => {
      this.#rows.value = [...page.items, ...later];
      if (!isShort) return;
      this.#pages = 1;
      this.#keep(page.nextCursor);
    });
  }

  #next(page: PageOf<T>): void {
    const rows = this.#rows.value ?? [];
    const ids = new Set(rows.map(this.#idOf));
    batch(() => {
      this.#rows.value = [...rows, ...page.items.filter((row) => !ids.has(this.#idOf(row)))];
      this.#pages += 1;
      this.#keep(page.nextCursor);
    });
  }

  #keep(cursor: string | undefined): void {
    const isFull = (this.#rows.value?.length ?? 0) >= maxRows;
    this.#cursor = isFull ? undefined : cursor;
    this.#hasMore.value = this.#cursor !== undefined;
  }
}
