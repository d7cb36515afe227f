/**
 * Reads the documents with which assistants describe themselves: from public addresses, and those that the operator
 * allows.
 */
export interface ClientDocuments {
  /** The text of the document; undefined for whatever reason there is none, so that nothing of a network is told. */
  read(url: string): Promise<string | undefined>;
}
