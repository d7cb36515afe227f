import {
  type AgentRule,
  type ApproverRole,
  type ExpiryOutcome,
  type RememberWidth,
  approverRoles,
  rememberWidths,
} from '@convoke/contract';

/** Who may allow a call, and how the request ends (D-512, D-521, D-522). */
export interface Demands {
  readonly approvers: Approvers;
  /** How far an allow may reach. */
  readonly remember: RememberWidth;
  /** Absent: as long as the agent waits for every answer. */
  readonly waitHours?: number;
  readonly onExpiry: ExpiryOutcome;
}

export interface Approvers {
  /** The lowest role that may allow. */
  readonly role: ApproverRole;
  readonly people: number;
  readonly notStarter: boolean;
  readonly clients: boolean;
  readonly endUsers: boolean;
}

/** A rule without `approvers`: each caller that may answer may allow. */
const everyCaller: Approvers = {
  role: 'operator',
  people: 1,
  notStarter: false,
  clients: true,
  endUsers: true,
};

/** Of a request that no rule has asked for (D-511). */
export const noDemands: Demands = {
  approvers: everyCaller,
  remember: 'never',
  onExpiry: 'fail',
};

export function readDemands(rule: AgentRule): Demands {
  const { approvers, remember = 'never', wait_hours: waitHours, on_expiry: onExpiry } = rule;
  return {
    approvers: approvers === undefined ? everyCaller : readApprovers(approvers),
    remember,
    ...(waitHours !== undefined && { waitHours }),
    onExpiry: onExpiry ?? 'fail',
  };
}

export function readApprovers(approvers: NonNullable<AgentRule['approvers']>): Approvers {
  const { role = 'operator', people = 1, not_starter, clients, end_users } = approvers;
  return {
    role,
    people,
    notStarter: not_starter ?? false,
    clients: clients ?? false,
    endUsers: end_users ?? false,
  };
}

/** D-522: how long a request waits, at most as long as its agent waits for every answer. */
export function waitOf({ waitHours }: Demands, agentMs: number): number {
  return waitHours === undefined ? agentMs : Math.min(agentMs, Math.ceil(waitHours * 3_600_000));
}

type AskingDemands = readonly { readonly demands: Demands }[];

/** D-505: one of the rules that asked is enough. */
export function deniesOnExpiry(asked: AskingDemands): boolean {
  return asked.some(({ demands }) => demands.onExpiry === 'deny');
}

/** Whether the time of the request is the rules' business: then its readers are told when it ends. */
export function limitsTime(asked: AskingDemands): boolean {
  return deniesOnExpiry(asked) || asked.some(({ demands }) => demands.waitHours !== undefined);
}

/** D-505: what satisfies both. */
export function bothDemands(one: Demands, other: Demands): Demands {
  const waits = [one.waitHours, other.waitHours].filter((hours) => hours !== undefined);
  const [first, second] = [one.approvers, other.approvers];
  return {
    approvers: {
      role: later(approverRoles, first.role, second.role),
      people: Math.max(first.people, second.people),
      notStarter: first.notStarter || second.notStarter,
      clients: first.clients && second.clients,
      endUsers: first.endUsers && second.endUsers,
    },
    remember: earlier(rememberWidths, one.remember, other.remember),
    ...(waits.length > 0 && { waitHours: Math.min(...waits) }),
    onExpiry: one.onExpiry === 'deny' ? 'deny' : other.onExpiry,
  };
}

function later<Value>(order: readonly Value[], one: Value, other: Value): Value {
  return order.indexOf(one) > order.indexOf(other) ? one : other;
}

function earlier<Value>(order: readonly Value[], one: Value, other: Value): Value {
  return order.indexOf(one) < order.indexOf(other) ? one : other;
}
