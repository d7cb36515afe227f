import type { Template } from './template.ts';
import { ts } from './templates/ts.ts';

export const agentTemplates = { ts } satisfies Record<string, Template>;

export type TemplateName = keyof typeof agentTemplates;
