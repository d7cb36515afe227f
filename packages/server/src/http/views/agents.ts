import type { AgentRecord } from '@convoke/contract';
import type { Agent } from '../../domain/agent.ts';
import { optional } from './fields.ts';

/** D-56. */
export function agentView(agent: Agent, fileAttachments: boolean): AgentRecord {
  return {
    name: agent.name,
    description: agent.description,
    framework: agent.framework,
    ...optional('model', agent.model),
    approval_required_tools: [...agent.approvalRequiredTools],
    session_files_supported: fileAttachments && agent.sessionFiles,
  };
}
