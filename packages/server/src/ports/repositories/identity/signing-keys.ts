export interface SigningKey {
  readonly kid: string;
  /** JWK as JSON text. */
  readonly publicJwk: string;
  /** JWK as JSON text, sealed under the data folder's master key. */
  readonly sealedPrivateJwk: string;
  readonly createdAt: number;
  /** Later than its publication, so that every verifier knows the key when it first signs. */
  readonly signsFrom: number;
  readonly retiresAt: number | null;
}

export interface SigningKeyRepository {
  insert(key: SigningKey): Promise<void>;
  list(): Promise<SigningKey[]>;
  /** Sets when every other key stops being accepted. */
  retireOthers(kid: string, retiresAt: number): Promise<void>;
  removeRetired(before: number): Promise<void>;
  /** False when there is no such key. */
  remove(kid: string): Promise<boolean>;
}
