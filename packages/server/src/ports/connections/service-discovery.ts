import type { TenantId } from '@convoke/contract';

/** Asks an MCP server who issues its tokens (D-605, D-1070). */
export interface ServiceDiscovery {
  discover(of: {
    readonly tenantId: TenantId;
    /** Its URL, as the agent names it. */
    readonly mcpServer: string;
  }): Promise<Discovered>;
}

export type Discovered =
  | { readonly ok: true; readonly service: DiscoveredService }
  /** What is missing, for the author of the agent. */
  | { readonly ok: false; readonly problem: string };

/** An authorization server, as it describes itself. */
export interface DiscoveredService {
  readonly resource: string;
  readonly issuer: string;
  /** Whether it announces that it says who it is when it sends a browser back (RFC 9207). */
  readonly saysIssuer: boolean;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** What there is to ask for, as one text. */
  readonly scope: string | undefined;
  /** Whether the address of a document is a client id there. */
  readonly readsClientDocuments: boolean;
}
