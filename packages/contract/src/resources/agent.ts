import { z } from 'zod';
import { nextCursor } from './page.ts';

/** Pattern of agent names, which are also folder names. A name that does not match is an unknown agent. */
export const agentNamePattern = /^[a-z0-9-]{1,64}$/;

export const agentName = z
  .string()
  .regex(agentNamePattern)
  .meta({ description: 'Name of the agent.', examples: ['demo'] });

/** D-56. */
export const agentRecord = z
  .object({
    name: z.string().meta({ examples: ['demo'] }),
    description: z.string().meta({ examples: ['Greets, asks and writes a note.'] }),
    framework: z.string().meta({ examples: ['scripted'] }),
    model: z.string().optional(),
    approval_required_tools: z.array(z.string()).meta({ examples: [['write_file']] }),
    session_files_supported: z.boolean(),
  })
  .meta({ id: 'Agent', description: 'An agent that is deployed and enabled for the tenant.' });

export type AgentRecord = z.infer<typeof agentRecord>;

export const agentList = z.object({ agents: z.array(agentRecord), next_cursor: nextCursor });
