/** A server and the login that is used there, for people who wonder which it was. */
export interface UsedLogin {
  /** Where the login was found: `saved login "backend"`. */
  readonly login: string;
  readonly baseUrl: string;
  /** Absent where the login can access only one tenant. */
  readonly tenantId?: string | undefined;
}

let used: UsedLogin | undefined;

/** Remembers the login and the server of this command, so that its failure can name them. */
export function noteLogin(login: UsedLogin): void {
  used = login;
}

/** The login and the server of this command; undefined before it has connected. */
export function usedLogin(): UsedLogin | undefined {
  return used;
}

/** Renders them: ` (saved login "backend", http://127.0.0.1:8787)`; empty if it used none. */
export function usedLoginText(): string {
  return used === undefined ? '' : ` (${used.login}, ${used.baseUrl})`;
}
