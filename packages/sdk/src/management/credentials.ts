import type { CredentialRecord, IssuedCredential } from '../generated/records.ts';
import type { AddCredential } from '../generated/requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The secrets of automation clients, to rotate them: add, deploy, revoke the old one. */
export class Credentials {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Adds a credential; at most two are active at a time. Only this response contains the secret. */
  add(
    clientId: string,
    credential: AddCredential,
    options: IdempotentOptions = {},
  ): Promise<IssuedCredential> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: `${this.#path}${at`/${clientId}/credentials`}`,
      headers: idempotencyHeader(idempotencyKey),
      json: credential,
      repeatable: 'always',
      signal,
    });
  }

  /** Revokes a credential: it obtains no new tokens. Returns the record while cleanup continues. */
  revoke(
    clientId: string,
    credentialId: string,
    { signal }: CallOptions = {},
  ): Promise<CredentialRecord | undefined> {
    const path = `${this.#path}${at`/${clientId}/credentials/${credentialId}`}`;
    return this.#transport.remove({ path, signal });
  }
}
