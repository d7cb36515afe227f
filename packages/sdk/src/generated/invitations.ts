// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { InvitationRecord, IssuedInvitation } from './records.ts';
import type { CreateInvitation, PageQuery } from './requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The open invitations of the organization. The secret of one is in the response that creates it. */
export class Invitations {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * Invite a person. Creates a link that lets one person join the organization with this role, within seven days.
   * Only an owner can invite owners. Send the link yourself: the server sends no mail.
   */
  create(invitation: CreateInvitation, options: IdempotentOptions = {}): Promise<IssuedInvitation> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}/invitations`,
      headers: idempotencyHeader(idempotencyKey),
      json: invitation,
      repeatable: 'always',
      signal,
    });
  }

  /**
   * List the open invitations. Lists invitations that can still be accepted. Those that were used or revoked are in
   * the audit log.
   */
  list(query: PageQuery & CallOptions = {}): Listing<InvitationRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/invitations`, key: 'invitations' },
      query,
    );
  }

  /** Revoke an invitation. The link stops working. One that is no longer open is 204, too. */
  async revoke(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: `${this.#organization}${at`/invitations/${id}`}`,
      signal,
    });
  }
}
