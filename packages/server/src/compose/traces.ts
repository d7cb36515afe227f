import type { TelemetryConfig } from '../config/telemetry-settings.ts';
import type { Run } from '../domain/run/run.ts';
import type { Agents } from '../ports/agents.ts';
import type { Harness } from '../ports/harness.ts';
import type { Log } from '../ports/log.ts';
import type { Traces } from '../ports/traces.ts';
import { createTraces } from '../telemetry/traces.ts';

interface TracesParts {
  readonly log: Log;
  readonly agents: Agents;
  readonly harnesses: ReadonlyMap<string, Harness>;
}

/** Traces that know the agents of this server. */
export function openTraces(
  telemetry: TelemetryConfig,
  { log, agents, harnesses }: TracesParts,
): Promise<Traces> {
  const agentOf = ({ agentName }: Pick<Run, 'agentName'>) => {
    const { digest, model, framework } = agents.find(agentName) ?? {};
    const reportsRequests = harnesses.get(framework ?? '')?.reportsRequests === true;
    return { digest, model, framework, reportsRequests };
  };
  return createTraces(telemetry, { log, agentOf });
}
