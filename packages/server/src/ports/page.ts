/** A page of a list, newest or oldest first. `after` is the id the previous page ended with. */
export interface PageRequest {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string | undefined;
}

/** The rows of a page that fit into its bytes, at least one. `isCut` says that the next row did not. */
export interface CutPage<Item> {
  readonly items: readonly Item[];
  readonly isCut: boolean;
}
