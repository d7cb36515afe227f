/** Makes TypeIDs, which sort in the order they were made (D-01). */
export interface Ids {
  next(prefix: string): string;
}
