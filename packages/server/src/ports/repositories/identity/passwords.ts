import type { UserId } from '@convoke/contract';

export interface UserPassword {
  readonly userId: UserId;
  /** In the PHC string format, with its salt and its cost. */
  readonly hash: string;
  /** Made by an operator: valid for one sign-in, which must set another. */
  readonly isOneTime: boolean;
  readonly setAt: number;
  readonly expiresAt: number | null;
}

export interface PasswordRepository {
  find(userId: UserId): Promise<UserPassword | undefined>;
  /** Inserts the password or replaces the old one. */
  save(password: UserPassword): Promise<void>;
  /** Replaces the password with this hash. False when it is no longer stored or has expired. */
  replace(password: UserPassword, hash: string): Promise<boolean>;
}
