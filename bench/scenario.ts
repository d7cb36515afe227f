import type { BenchAgent } from './agents.ts';
import type { Address } from './client.ts';
import type { Usage } from './probe.ts';

/** How much is asked of the machine: `smoke` only shows that everything works. */
export type Scale = 'full' | 'quick' | 'smoke';

export type TargetName = 'convoke' | 'convoke, old' | 'ref:sqlite' | 'ref:postgres' | 'ref:mem';

/** One line of the table. */
export interface Row {
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
  /** Decides which way a ratio is good. */
  readonly better: 'more' | 'less';
  readonly target: string;
}

export interface Slice {
  readonly address: Address;
  readonly scale: Scale;
  /** Asks the server, through the process that started it. */
  readonly usage: (kind: 'usage' | 'collected') => Promise<Usage>;
}

/** Figures by name. Each slice also checks what it got and throws when an event is missing. */
export type Figures = Readonly<Record<string, number>>;

export interface Scenario {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly targets: readonly TargetName[];
  /** Each slice gets a server of its own: memory that was used once is never given back. */
  readonly fresh?: boolean;
  readonly agents: (scale: Scale) => readonly BenchAgent[];
  /** Runs in the load generator's process. */
  slice(slice: Slice): Promise<Figures>;
}

export const everyServer = ['convoke', 'ref:sqlite', 'ref:mem'] as const;
