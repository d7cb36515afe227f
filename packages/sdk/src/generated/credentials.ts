// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { CredentialRecord, IssuedCredential } from './records.ts';
import type { AddCredential } from './requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The secrets of automation clients, to rotate them: add, deploy, revoke the old one. */
export class Credentials {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * Add a credential to rotate secrets. Issues a second secret. Deploy it, then revoke the first one: at most two
   * credentials of a client are active.
   */
  add(
    id: string,
    credential: AddCredential,
    options: IdempotentOptions = {},
  ): Promise<IssuedCredential> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}${at`/m2m/${id}/credentials`}`,
      headers: idempotencyHeader(idempotencyKey),
      json: credential,
      repeatable: 'always',
      signal,
    });
  }

  /**
   * Revoke a credential. The credential can no longer obtain tokens. Streams that its tokens opened end; requests
   * with these tokens are accepted until they expire.
   */
  revoke(
    clientId: string,
    credentialId: string,
    { signal }: CallOptions = {},
  ): Promise<CredentialRecord | undefined> {
    return this.#transport.remove({
      path: `${this.#organization}${at`/m2m/${clientId}/credentials/${credentialId}`}`,
      signal,
    });
  }
}
