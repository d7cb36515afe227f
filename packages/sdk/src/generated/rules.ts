// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { RuleDocumentRecord, RuleTrialRecord } from './rule-records.ts';
import type { SetRules, TryRules } from './requests.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The rules of the organization about tool calls: one document. */
export class PlainRules {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * Read the rules for tool calls. Returns the one document of the organization, as it was written. Before the
   * first it is version 0 without rules. `warnings` are about the agents, tenants and people of now.
   */
  get({ signal }: CallOptions = {}): Promise<RuleDocumentRecord> {
    return this.#transport.json({ method: 'GET', path: `${this.#organization}/rules`, signal });
  }

  /**
   * Replace the rules for tool calls. The first rule that matches a call decides; a list without a match allows it.
   * What the agent asks for itself holds as well: the stricter of both counts. A new document counts from the next
   * call on. While the old or the new one has a rule with `role: owner`, only an owner replaces it. A document
   * equal to the current one changes nothing, whatever its version, so a request whose answer was lost can be sent
   * again.
   */
  set({ signal, ...change }: SetRules & CallOptions): Promise<RuleDocumentRecord> {
    return this.#transport.json({
      method: 'PUT',
      path: `${this.#organization}/rules`,
      json: change,
      signal,
    });
  }

  /**
   * Try rules over past calls. Decides about past tool calls of the organization with the current rules and with a
   * draft, and shows where they differ. Nothing is written and no input is shown. Calls of the newest runs come
   * first; a page ends after 5,000 calls, or earlier when they are large or the rules are costly. Answers of people
   * do not count, and the lists of agents are those of now. Calls that change nothing, and that no rule was about
   * when they were made, are not stored, so they are not among them.
   */
  try({ signal, ...change }: TryRules & CallOptions): Promise<RuleTrialRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}/rules:try`,
      json: change,
      repeatable: 'always',
      signal,
    });
  }
}
