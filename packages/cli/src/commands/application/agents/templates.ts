import type { Template } from './template.ts';
import { python } from './templates/python.ts';
import { ts } from './templates/ts.ts';

export const agentTemplates = { ts, python } satisfies Record<string, Template>;

export type TemplateName = keyof typeof agentTemplates;
