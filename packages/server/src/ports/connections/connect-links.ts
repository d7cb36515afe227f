import type { ConnectFlow, ServiceLink } from '../../domain/connections/link.ts';

/** What connecting by a link takes from this server: its addresses, its randomness and its key (D-606). */
export interface ConnectLinks {
  /** Where services send browsers back to. */
  readonly callbackUrl: string;
  /** The address of this server's description of itself, which is its client id at services that read it. */
  readonly clientId: string;
  /** Whether a browser may return there: to a page of the console, or of a product. */
  isReturnUrl(url: string): boolean;
  /** Random text of 256 bits. */
  newSecret(): string;
  /** The secret of our client at the service; undefined where it has none. Throws where it cannot be read. */
  clientSecretOf(link: Pick<ServiceLink, 'clientSecret'>): Promise<string | undefined>;
  /** The flow is sealed for the record with this digest. */
  seal(digest: string, flow: ConnectFlow): string;
  open(digest: string, sealed: string): ConnectFlow | undefined;
}
