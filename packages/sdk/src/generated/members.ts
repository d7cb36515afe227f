// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { MemberRecord } from './records.ts';
import type { UpdateMember, PageQuery } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The people of the organization. Invitations add them. */
export class Members {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /** List the people of the organization. Lists members of every role. Invitations add members. */
  list(query: PageQuery & CallOptions = {}): Listing<MemberRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/members`, key: 'members' },
      query,
    );
  }

  /**
   * Give a member another role. Takes effect with the next request of the person, and revokes the invitations that
   * the person made. Only an owner changes the role of an owner, or makes one.
   */
  update(id: string, { signal, ...change }: UpdateMember & CallOptions): Promise<MemberRecord> {
    return this.#transport.json({
      method: 'PATCH',
      path: `${this.#organization}${at`/members/${id}`}`,
      json: change,
      signal,
    });
  }

  /**
   * Remove a member. The person has no access to the organization from the next request on, and the invitations
   * that the person made are revoked. Only an owner removes an owner.
   */
  async remove(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: `${this.#organization}${at`/members/${id}`}`,
      signal,
    });
  }

  /**
   * Sign a member out everywhere. Ends every sign-in and every token of the person, in every browser and terminal.
   * The person can sign in again. Only an owner signs an owner out.
   */
  signOut(id: string, { signal }: CallOptions = {}): Promise<undefined> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}${at`/members/${id}/sign-out`}`,
      signal,
    });
  }
}
