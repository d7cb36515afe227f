import type { WorkspaceRecord } from '@convoke/sdk';
import { inBackground } from '../data/in-background.ts';
import { changeSession, session } from './session.ts';
import { accountClient } from './tenant-clients.ts';

export async function readWorkspaces(): Promise<WorkspaceRecord[]> {
  const workspaces: WorkspaceRecord[] = [];
  for await (const workspace of accountClient().workspaces({ limit: 100 }))
    workspaces.push(workspace);
  return workspaces;
}

/** Reads tenants again, after one was created or offboarded. */
export async function refreshWorkspaces(): Promise<void> {
  const workspaces = await readWorkspaces();
  // The person may have signed out in the meantime.
  const { value } = session;
  if (value.kind === 'in') changeSession({ ...value, workspaces });
}

/**
 * The same where the person looks for a tenant: another person, or a program, may have created it since, and no notice
 * tells of that. Without an answer the page keeps those it knows.
 */
export function readWorkspacesAgain(): void {
  inBackground(refreshWorkspaces().catch(() => undefined));
}
