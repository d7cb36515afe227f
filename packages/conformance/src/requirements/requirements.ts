import { applicationRequirements } from './application.ts';
import { convokeRequirements } from './convoke.ts';
import { eventRequirements } from './events.ts';
import { managementRequirements } from './management.ts';
import type { Requirement } from './requirement.ts';
import { resourceRequirements } from './resources.ts';

/** The text that the requirements were taken from. */
export const specification = {
  title: 'Agent Invocation Service: Application API, Organization Management API and Run Events',
  sha256: '3d7bde1b613ab0bf284aec8ce2d63c7998d5f4f9dbad82faedfc17c0663e211c',
} as const;

/** Every sentence of the specification that binds an implementation, then those of Convoke's own decisions. */
export const requirements: readonly Requirement[] = [
  ...resourceRequirements,
  ...applicationRequirements,
  ...managementRequirements,
  ...eventRequirements,
  ...convokeRequirements,
];

export function isOfConvoke({ section }: Requirement): boolean {
  return section === 'convoke';
}
