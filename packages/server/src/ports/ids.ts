/** Makes TypeIDs, which sort in the order they were made (D-01). */
export interface Ids {
  /** An id that also sorts after `after`, which another server may have made. */
  next(prefix: string, after?: string): string;
}
