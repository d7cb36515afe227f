/** D-54: every permission of automation clients, with a description. */
export const scopeDescriptions = {
  'agents:read': 'See the agents that are enabled for the tenant.',
  'sessions:read': 'Read sessions.',
  'sessions:write': 'Create, stop and resume sessions.',
  'runs:read': 'Read runs and follow their events.',
  'runs:write': 'Start and cancel runs.',
  'feedback:write': 'Give feedback on runs, and take it back.',
  'interactions:read': 'Read the questions and approval requests that agents raised.',
  'interactions:write': 'Answer questions and approval requests.',
  'files:read': 'List and download the files of a session.',
  'files:write': 'Create, upload and delete the files of a session.',
  'schedules:read': 'Read schedules and the outcome of their slots.',
  'schedules:write': 'Create, change, pause and delete schedules, and start their runs.',
  'webhooks:read': 'Read webhooks and their deliveries.',
  'webhooks:write':
    'Test and delete webhooks; with `runs:read` and `interactions:read`, create and change them.',
  'connections:read': 'See which accounts are connected, never their secrets.',
  'connections:write': 'Connect accounts for the services that agents use, and revoke them.',
  'usage:read': 'Read what the runs of the tenant used and cost.',
  'agents:deploy': 'Deploy agents through a control plane, which is not part of this server.',
} as const;

export type Scope = keyof typeof scopeDescriptions;

export const scopes = [
  'agents:read',
  'sessions:read',
  'sessions:write',
  'runs:read',
  'runs:write',
  'feedback:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
  'schedules:read',
  'schedules:write',
  'webhooks:read',
  'webhooks:write',
  'connections:read',
  'connections:write',
  'usage:read',
  'agents:deploy',
] as const satisfies readonly Scope[];

const observe = [
  'agents:read',
  'sessions:read',
  'runs:read',
  'interactions:read',
  'files:read',
  'schedules:read',
  'webhooks:read',
  'connections:read',
  'usage:read',
] as const satisfies readonly Scope[];

const invoke = [
  'agents:read',
  'sessions:read',
  'sessions:write',
  'runs:read',
  'runs:write',
  'feedback:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
  'schedules:read',
  'schedules:write',
  'webhooks:read',
  'webhooks:write',
  'connections:read',
  'connections:write',
  'usage:read',
] as const satisfies readonly Scope[];

/**
 * D-196: the scopes that a token for one session may have. Without `sessions:write` a page can neither stop the session
 * nor create tokens.
 */
export const usualSessionTokenScopes = [
  'sessions:read',
  'runs:read',
  'runs:write',
  'feedback:write',
  'interactions:read',
  'interactions:write',
  'files:read',
  'files:write',
] as const satisfies readonly Scope[];

/** D-595: those for connections only where they are asked for by name. */
export const sessionTokenScopes = [
  ...usualSessionTokenScopes,
  'connections:read',
  'connections:write',
] as const satisfies readonly Scope[];

/** D-619: what an assistant may ask a person for, all that the MCP address takes. */
export const mcpScopes = [
  'agents:read',
  'runs:read',
  'sessions:write',
  'runs:write',
  'interactions:write',
] as const satisfies readonly Scope[];

const deploy = ['agents:read', 'agents:deploy'] as const satisfies readonly Scope[];

/** Scopes of the named profiles. `custom` is missing: its scopes are stored with the client. */
export const profiles = { observe, invoke, deploy } as const;

export const profileNames = ['observe', 'invoke', 'deploy', 'custom'] as const;

export type Profile = (typeof profileNames)[number];

export const profileDescriptions: { readonly [P in Profile]: string } = {
  observe: 'Read everything in the tenant, change nothing.',
  invoke:
    'Read everything, and run agents: sessions, runs, feedback, interactions, files, schedules, webhooks and connections.',
  deploy:
    'See agents. Deploying them takes a control plane, which is not part of this server. No access to sessions or runs.',
  custom: 'Exactly the scopes listed on the client.',
};

/** Incremented when the scopes or the profiles change (spec §9.4). */
export const catalogVersion = 4;

/** Returns the scopes of a profile. `custom` holds the scopes of a client with the profile `custom`. */
export function scopesOf(profile: Profile, custom: readonly Scope[] = []): readonly Scope[] {
  return profile === 'custom' ? custom : profiles[profile];
}

export function isScope(value: string): value is Scope {
  return Object.hasOwn(scopeDescriptions, value);
}
