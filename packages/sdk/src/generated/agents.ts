// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { AgentRecord, AgentDetails } from './records.ts';
import type { AgentsQuery } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The agents that are enabled for the workspace. */
export class PlainAgents {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * List the agents of the tenant. Lists the agents that are deployed and enabled for the tenant. Create a session
   * with the name of one.
   */
  list(query: AgentsQuery & CallOptions = {}): Listing<AgentRecord> {
    return new Listing(this.#transport, { path: '/v1/agents', key: 'agents' }, query);
  }

  /**
   * Read an agent. Returns the agent with the schema of its input, its tools and skills. One whose folder cannot be
   * loaded has a `problem`.
   */
  get(agentName: string, { signal }: CallOptions = {}): Promise<AgentDetails> {
    return this.#transport.json({ method: 'GET', path: at`/v1/agents/${agentName}`, signal });
  }
}
