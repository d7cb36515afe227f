/** D-54: every permission an automation client can hold, with what it lets the client do. */
export const scopeDescriptions = {
  'agents:read': 'See the agents that are enabled for the tenant.',
  'sessions:read': 'Read sessions.',
  'sessions:write': 'Create, stop and resume sessions.',
  'runs:read': 'Read runs and follow their events.',
  'runs:write': 'Start and cancel runs.',
  'interactions:read': 'Read the questions and approval requests that agents raised.',
  'interactions:write': 'Answer questions and approval requests.',
  'files:read': 'List and download the files of a session.',
  'files:write': 'Prepare, upload and delete the files of a session.',
  'agents:deploy': 'Deploy agents through the platform control plane.',
} as const;

export type Scope = keyof typeof scopeDescriptions;

export const scopes = [
  'agents:read',
  'sessions:read',
  'sessions:write',
  'runs:read',
  'runs:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
  'agents:deploy',
] as const satisfies readonly Scope[];

const observe = [
  'agents:read',
  'sessions:read',
  'runs:read',
  'interactions:read',
  'files:read',
] as const satisfies readonly Scope[];

const invoke = [
  'agents:read',
  'sessions:read',
  'sessions:write',
  'runs:read',
  'runs:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
] as const satisfies readonly Scope[];

const deploy = ['agents:read', 'agents:deploy'] as const satisfies readonly Scope[];

/** The named permission profiles. `custom` is not here: its scopes come with the client. */
export const profiles = { observe, invoke, deploy } as const;

export const profileNames = ['observe', 'invoke', 'deploy', 'custom'] as const;

export type Profile = (typeof profileNames)[number];

export const profileDescriptions: { readonly [P in Profile]: string } = {
  observe: 'Read everything in the tenant, change nothing.',
  invoke: 'Read everything, and run agents: sessions, runs, interactions and files.',
  deploy: 'See agents and deploy them; no access to sessions or runs.',
  custom: 'Exactly the scopes listed on the client.',
};

/** Grows by one whenever the scopes or the profiles change (spec §9.4). */
export const catalogVersion = 1;

/** What a client of this profile may do. `custom` names the scopes of a `custom` client. */
export function scopesOf(profile: Profile, custom: readonly Scope[] = []): readonly Scope[] {
  return profile === 'custom' ? custom : profiles[profile];
}

export function isScope(value: string): value is Scope {
  return Object.hasOwn(scopeDescriptions, value);
}
