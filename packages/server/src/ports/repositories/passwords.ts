import type { UserId } from '@convoke/contract';

export interface UserPassword {
  readonly userId: UserId;
  /** In the PHC string format, with its salt and its cost. */
  readonly hash: string;
  /** Made by an operator: good for one sign-in, which has to choose another. */
  readonly isOneTime: boolean;
  readonly setAt: number;
  readonly expiresAt: number | null;
}

export interface PasswordRepository {
  find(userId: UserId): Promise<UserPassword | undefined>;
  /** Puts it in the place of whatever was there. */
  save(password: UserPassword): Promise<void>;
}
