/**
 * Reads the documents with which assistants describe themselves: from public addresses, and those that the operator
 * allows.
 */
export interface ClientDocuments {
  /** The text of the document; undefined for every failure alike, so that a caller learns nothing about the network. */
  read(url: string): Promise<string | undefined>;
}
