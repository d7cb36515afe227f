import { z } from 'zod';
import { jsonObject } from '../json.ts';
import { connectionOwners, connectionService } from './connections/connection.ts';
import { nextCursor, timestamp } from './page.ts';

/** Pattern of agent names, which are also folder names. A name that does not match is an unknown agent. */
export const agentNamePattern = /^[a-z0-9-]{1,64}$/;

export const agentName = z
  .string()
  .regex(agentNamePattern)
  .meta({ description: 'Name of the agent.', examples: ['demo'] });

/** Names a version of an agent (D-574). */
export const agentDigest = z.string().meta({
  description: 'The version of the agent: SHA-256, in hex, of the files that decide what it does.',
  examples: ['5f0c9a12e4b87d30c1a6f2958e47bb0d93c8415f6a7e20dbb1c4983f5e6d7a01'],
});

/** An agent as a tenant sees it (D-56). */
export const agentRecord = z
  .object({
    name: z.string().meta({ examples: ['demo'] }),
    description: z.string().meta({ examples: ['Greets, asks and writes a note.'] }),
    framework: z.string().meta({ examples: ['scripted'] }),
    model: z.string().optional(),
    approval_required_tools: z.array(z.string()).meta({ examples: [['write_file']] }),
    session_files_supported: z.boolean(),
    input_schema: jsonObject
      .meta({
        description: 'JSON Schema of the input of a run; absent for an agent with a problem.',
      })
      .optional(),
    output_schema: jsonObject
      .meta({ description: 'JSON Schema of the output of a run, if the agent declares one.' })
      .optional(),
    digest: agentDigest.optional(),
    connections: z
      .array(
        z.object({
          service: connectionService,
          owner: z.enum(connectionOwners),
          required: z.boolean(),
        }),
      )
      .meta({ description: 'Services whose accounts it uses, if it uses any.' })
      .optional(),
    calls: z
      .array(z.string())
      .meta({ description: 'The agents that it may call, if any.', examples: [['researcher']] })
      .optional(),
    missing_variables: z
      .array(z.string())
      .meta({
        description:
          'Environment variables that `agent.yaml` refers to and the server does not have. Runs that need one fail.',
        examples: [['ANTHROPIC_API_KEY']],
      })
      .optional(),
    problem: z
      .string()
      .meta({ description: 'Why its folder cannot be loaded. Such an agent cannot be invoked.' })
      .optional(),
  })
  .meta({ id: 'Agent', description: 'An agent that is deployed and enabled for the tenant.' });

/** An agent with what a form and a person need to know. */
export const agentDetails = agentRecord
  .extend({
    input_schema: jsonObject.meta({ description: 'JSON Schema of the input of a run.' }),
    tools: z
      .array(z.string())
      .meta({ description: 'The tools it may use; `*` stands for any characters.' }),
    skills: z.array(z.string()),
    on_busy: z.enum(['queue', 'reject']).meta({
      description: 'What happens to a new run while another run of the session executes.',
    }),
    loaded_at: timestamp.optional(),
  })
  .meta({ id: 'AgentDetails', description: 'An agent with its input, tools and skills.' });

export type AgentDetails = z.infer<typeof agentDetails>;

export type AgentRecord = z.infer<typeof agentRecord>;

export const agentList = z.object({ agents: z.array(agentRecord), next_cursor: nextCursor });
