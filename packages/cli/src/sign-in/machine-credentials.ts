/** Credentials of an automation client, which calls the application API. */
export interface MachineCredentials {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly organizationId?: string | undefined;
  readonly tenantId?: string | undefined;
}
