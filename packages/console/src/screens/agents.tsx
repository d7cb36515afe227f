import type { AgentRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { plural } from '../data/formats.ts';
import { approvalWords, readyFirst } from '../data/ready-agents.ts';
import { addressOf } from '../data/routes.ts';
import { shownState } from '../data/run-rows.ts';
import { moveInRows, useRowKeys } from '../parts/list/table.tsx';
import { CodeBlock } from '../parts/copy.tsx';
import { Card, Heading, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { StatusMark } from '../parts/status.tsx';
import { type RunSummary, listAllAgents, listRuns } from '../session/api.ts';
import { baseUrl } from '../session/code-flow.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import type { TenantScope } from '../session/tenant-clients.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';

export function AgentsScreen(): JSX.Element {
  useTitle('Agents');
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/all-agents`, () => listAllAgents(tenant));
  const runs = useResource(`${tenant.tenantId}/newest-runs`, () =>
    listRuns(tenant, { limit: 100 }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => runs.refresh(),
  );
  const cards = useRef<HTMLDivElement>(null);
  useRowKeys(cards);
  const newest = Map.groupBy(runs.data.value?.items ?? [], (run) => run.agent_name);
  return (
    <>
      <Heading title="Agents" />
      <Await resource={agents}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No agents yet.">
              <span>
                Add a folder with an <code>agent.yaml</code> to the server’s agents folder. The
                agent appears here when you save it.
              </span>
            </Empty>
          ) : (
            <div class="stack">
              <div
                class="cards"
                ref={cards}
                onKeyDown={(event) => moveInRows(event, cards.current)}
              >
                {readyFirst(all).map((agent) => (
                  <AgentCard
                    key={agent.name}
                    agent={agent}
                    tenant={tenant.tenantId}
                    runs={newest.get(agent.name)?.slice(0, 6) ?? []}
                  />
                ))}
              </div>
              <AssistantAddress tenant={tenant} />
            </div>
          )
        }
      </Await>
    </>
  );
}

/** The one address at which assistants use all agents of the tenant (D-610). A person signs in there. */
function AssistantAddress(props: {
  readonly tenant: Pick<TenantScope, 'organizationId' | 'tenantId'>;
}): JSX.Element {
  const { organizationId, tenantId } = props.tenant;
  return (
    <Card title="Use them from an assistant">
      <div class="card-body stack tight">
        <p>
          Add this address to an assistant as a remote MCP server, and sign in.{' '}
          <a href="/docs/guides/editors-and-assistants">Editors and assistants</a>
        </p>
        <CodeBlock text={`${baseUrl()}/v1/mcp/${organizationId}/${tenantId}`} label="MCP address" />
      </div>
    </Card>
  );
}

/** Only these have a screen: a folder with another name is not an agent yet. */
const agentName = /^[a-z0-9-]{1,64}$/;

function AgentCard(props: {
  readonly agent: AgentRecord;
  readonly tenant: string;
  readonly runs: readonly RunSummary[];
}): JSX.Element {
  const { agent, tenant, runs } = props;
  const content = (
    <>
      <h2>{agent.name}</h2>
      <p class="muted">{agent.description}</p>
      {agent.problem !== undefined && (
        <p class="failed breaks">{`✕ Failed to load: ${agent.problem}`}</p>
      )}
      {agent.missing_variables !== undefined && (
        <p class="waiting breaks">{`Needs ${agent.missing_variables.join(', ')}`}</p>
      )}
      <div class="tags">
        {agent.framework !== '' && <span class="tag">{agent.framework}</span>}
        {agent.model !== undefined && <span class="tag">{agent.model}</span>}
        {agent.approval_required_tools.length > 0 && (
          <span class="tag warn">{approvalWords(agent.approval_required_tools)}</span>
        )}
        <LastRuns runs={runs} />
      </div>
    </>
  );
  if (!agentName.test(agent.name)) return <div class="card">{content}</div>;
  return (
    <a class="card" data-row href={addressOf('agent', { tenant, agent: agent.name })}>
      {content}
    </a>
  );
}

function stateWord(run: RunSummary): string {
  const state = shownState(run);
  return state === 'parked' ? 'waiting' : state;
}

/** The newest runs of an agent as glyphs, newest first; in words for those who do not see them. */
function LastRuns({ runs }: { readonly runs: readonly RunSummary[] }): JSX.Element | null {
  if (runs.length === 0) return null;
  const words = `Last ${plural(runs.length, 'run')}, newest first: ${runs.map(stateWord).join(', ')}`;
  return (
    <span class="runs-strip" role="img" aria-label={words} title={words}>
      {runs.map((run) => (
        <StatusMark key={run.id} of={shownState(run)} />
      ))}
    </span>
  );
}
