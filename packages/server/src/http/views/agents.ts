import type { AgentDetails, AgentRecord } from '@convoke/contract';
import { type ListedAgent, isBroken } from '../../app/agents.ts';
import { inputSchemaOf } from '../../domain/run/run-input.ts';
import { timeIn } from './fields.ts';

/** D-56. What a broken folder does not say is empty. */
export function agentView(agent: ListedAgent, fileAttachments: boolean): AgentRecord {
  if (isBroken(agent)) {
    return {
      name: agent.name,
      description: '',
      framework: agent.framework ?? '',
      approval_required_tools: [],
      session_files_supported: false,
      problem: agent.reason,
    };
  }
  const takesFiles = fileAttachments && agent.sessionFiles;
  const missing = agent.facts?.missingVariables ?? [];
  return {
    name: agent.name,
    description: agent.description,
    framework: agent.framework,
    model: agent.model ?? undefined,
    approval_required_tools: [...agent.approvalRequiredTools],
    session_files_supported: takesFiles,
    input_schema: inputSchemaOf({ agent, takesFiles }),
    output_schema: agent.output?.schema,
    digest: agent.digest,
    connections: agent.connections?.map(({ service, owner, isRequired }) => ({
      service,
      owner,
      required: isRequired,
    })),
    calls: agent.calls?.slice(),
    ...(missing.length === 0 ? {} : { missing_variables: [...missing] }),
  };
}

export function agentDetailsView(agent: ListedAgent, fileAttachments: boolean): AgentDetails {
  const record = agentView(agent, fileAttachments);
  const facts = isBroken(agent) ? undefined : agent.facts;
  return {
    ...record,
    input_schema: record.input_schema ?? inputSchemaOf({ agent: {}, takesFiles: false }),
    tools: [...(facts?.tools ?? [])],
    skills: [...(facts?.skills ?? [])],
    on_busy: isBroken(agent) ? 'queue' : agent.onBusy,
    loaded_at: timeIn(facts?.loadedAt),
  };
}
