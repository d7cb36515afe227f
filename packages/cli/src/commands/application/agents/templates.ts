import type { Template } from './template.ts';
import { aiSdk } from './templates/ai-sdk.ts';
import { langgraph } from './templates/langgraph.ts';
import { mastra } from './templates/mastra.ts';
import { openaiAgents } from './templates/openai-agents.ts';
import { python } from './templates/python.ts';
import { stdio } from './templates/stdio.ts';
import { ts } from './templates/ts.ts';

export const agentTemplates = {
  ts,
  python,
  stdio,
  'ai-sdk': aiSdk,
  langgraph,
  mastra,
  'openai-agents': openaiAgents,
} satisfies Record<string, Template>;

export type TemplateName = keyof typeof agentTemplates;
