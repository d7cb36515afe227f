/** Settings of the operator; read once at start by config/. */
export interface Settings {
  readonly fileAttachments: boolean;
  readonly maxFileBytes: number;
  /** Of all files of a tenant; zero means no limit. */
  readonly tenantStorageMaxBytes: number;
  readonly sessionQueueMax: number;
  readonly sessionIdleTtlMs: number;
  readonly cancelGraceMs: number;
  readonly runConcurrency: number;
  readonly tenantRunConcurrency: number;
  readonly leaseMs: number;
  /** What happens to runs whose worker is gone; an agent may only be stricter. */
  readonly recovery: 'resume' | 'fail';
  /** How long a lost run waits for the machine that has its files. */
  readonly machineReturnMs: number;
  readonly streamMaxAgeMs: number;
  /** The page of a product where its users connect accounts, with `{session_id}` and `{service}`; absent for none. */
  readonly connectUrl?: string | undefined;
  /** The page of the console where people connect theirs, with `{tenant_id}`, too; absent without the console. */
  readonly consoleConnectUrl?: string | undefined;
  readonly tenantModes: readonly string[];
  readonly tenantsPerOrganizationMax: number;
}
