// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

/** Compares one value of the input of a tool call. */
export interface RuleCondition {
  path: string;
  eq?: string | number | boolean | null | undefined;
  ne?: string | number | boolean | null | undefined;
  in?: Array<string | number | boolean | null> | undefined;
  gt?: number | undefined;
  gte?: number | undefined;
  lt?: number | undefined;
  lte?: number | undefined;
  like?: string | undefined;
  present?: boolean | undefined;
}

/** Who may allow the call. */
export interface RuleApprovers {
  role?: 'operator' | 'admin' | 'owner' | undefined;
  people?: number | undefined;
  not_starter?: boolean | undefined;
  clients?: boolean | undefined;
  end_users?: boolean | undefined;
}

/** Says what happens with tool calls that match it. The first rule of a list that matches decides. */
export interface RuleRecord {
  name: string;
  tools: string[];
  when?: RuleCondition[] | undefined;
  effect: 'allow' | 'ask' | 'deny';
  reason?: string | undefined;
  observe?: boolean | undefined;
  approvers?: RuleApprovers | undefined;
  remember?: 'never' | 'exact' | 'tool' | undefined;
  wait_hours?: number | undefined;
  on_expiry?: 'fail' | 'deny' | undefined;
  agents?: string[] | undefined;
  tenants?: string[] | undefined;
}

/** Why a rule may not do what it was meant to do. The document is stored anyway. */
export interface RuleWarning {
  /** Its name. */
  rule: string;
  code: 'unknown_agent' | 'unknown_tool' | 'unreachable' | 'too_few_approvers' | 'not_enforced';
  message: string;
}

/** The rules of an organization about tool calls. */
export interface RuleDocumentRecord {
  /** Counts the changes; 0 before the first document. */
  version: number;
  rules: RuleRecord[];
  warnings: RuleWarning[];
  updated_at?: string | undefined;
  updated_by?: string | undefined;
  /** Name of the client, or name or else email address of the person, as it is now. */
  updated_by_name?: string | undefined;
}

/** How many calls of the page a rule of a draft matches. */
export interface RuleMatches {
  name: string;
  /** Calls that it decides about or observes. */
  matched: number;
}

/** A past call about which a draft decides differently. Its input is not shown. */
export interface RuleChange {
  run_id: string;
  session_id: string;
  tenant_id: string;
  agent_name: string;
  tool_name: string;
  at: string;
  before: 'allow' | 'ask' | 'deny';
  after: 'allow' | 'ask' | 'deny';
  /** The rule that makes the difference: of the draft, or of the present document. */
  rule: string;
}

/** What a draft of rules would have decided. */
export interface RuleTrialRecord {
  /** Past calls that the page has looked at. */
  calls: number;
  /** Those about which the draft decides differently. */
  changed: number;
  /** The rules of the draft, in their order. */
  rules: RuleMatches[];
  /** The newest 100 that changed. */
  changes: RuleChange[];
  /** Present if there is another page. */
  next_cursor?: string | undefined;
}
