import type { RunId, TenantId } from '@convoke/contract';
import { ReleasingMap } from '../runtime/releasing-map.ts';
import type { LegSupervisor } from './leg-supervisor.ts';

export interface Executing {
  readonly tenantId: TenantId;
  /** Whether it may be the run that ends its servers. */
  readonly isSuspect: boolean;
  readonly supervisor: LegSupervisor;
  readonly ended: Promise<void>;
}

/** The runs that occupy a slot of this process, counted by tenant. */
export class ExecutingRuns {
  readonly #runs = new ReleasingMap<RunId, Executing>();
  readonly #byTenant = new Map<TenantId, number>();

  get size(): number {
    return this.#runs.size;
  }

  ofTenant(tenantId: TenantId): number {
    return this.#byTenant.get(tenantId) ?? 0;
  }

  get hasSuspect(): boolean {
    for (const { isSuspect } of this.#runs.values()) if (isSuspect) return true;
    return false;
  }

  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  add(runId: RunId, executing: Executing): void {
    this.#runs.set(runId, executing);
    this.#byTenant.set(executing.tenantId, this.ofTenant(executing.tenantId) + 1);
  }

  remove(runId: RunId): void {
    const executing = this.#runs.get(runId);
    if (executing === undefined) return;
    this.#runs.delete(runId);
    const others = this.ofTenant(executing.tenantId) - 1;
    if (others > 0) this.#byTenant.set(executing.tenantId, others);
    else this.#byTenant.delete(executing.tenantId);
  }

  all(): [RunId, Executing][] {
    return Array.from(this.#runs.entries());
  }
}
