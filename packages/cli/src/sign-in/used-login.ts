/** A server and the login that is used there, for people who wonder which it was. */
export interface UsedLogin {
  /** Where the login was found: `saved login "backend"`. */
  readonly login: string;
  readonly baseUrl: string;
  /** Absent where the login can access only one tenant. */
  readonly tenantId?: string | undefined;
}

let used: UsedLogin | undefined;

/** Remembers what this command uses, so that its failure can say so. */
export function noteLogin(login: UsedLogin): void {
  used = login;
}

/** What this command uses; undefined before it has connected. */
export function usedLogin(): UsedLogin | undefined {
  return used;
}

/** Renders what this command used: ` (saved login "backend", http://127.0.0.1:8787)`; empty if it used none. */
export function usedLoginText(): string {
  return used === undefined ? '' : ` (${used.login}, ${used.baseUrl})`;
}
