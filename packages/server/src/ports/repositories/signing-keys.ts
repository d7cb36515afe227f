export interface SigningKey {
  readonly kid: string;
  /** JWK as JSON text. */
  readonly publicJwk: string;
  /** JWK as JSON text, sealed under the data folder's master key. */
  readonly sealedPrivateJwk: string;
  readonly createdAt: number;
  /** Published before it signs, so that no verifier meets an unknown key. */
  readonly signsFrom: number;
  readonly retiresAt: number | null;
}

export interface SigningKeyRepository {
  insert(key: SigningKey): Promise<void>;
  list(): Promise<SigningKey[]>;
  /** Sets when every other key stops being accepted. */
  retireOthers(kid: string, retiresAt: number): Promise<void>;
  removeRetired(before: number): Promise<void>;
}
