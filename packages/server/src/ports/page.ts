/** A page of a list, newest or oldest first. `after` is the id the previous page ended with. */
export interface PageRequest {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string | undefined;
}
