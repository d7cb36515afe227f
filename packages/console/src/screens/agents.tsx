import type { JSX } from 'preact';
import { plural, visible } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { Heading, Shown } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { listAllAgents } from '../session/api.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';

export function AgentsScreen(): JSX.Element {
  useTitle('Agents');
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/all-agents`, () => listAllAgents(tenant));
  return (
    <>
      <Heading title="Agents" />
      <Shown of={agents}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No agents yet.">
              <span>
                An agent is a folder with an <code>agent.yaml</code> in the agents folder of the
                server. It appears here when it is saved.
              </span>
            </Empty>
          ) : (
            <div class="cards">
              {all.map((agent) => (
                <a
                  key={agent.name}
                  class="card"
                  href={addressOf('agent', { tenant: tenant.tenantId, agent: agent.name })}
                >
                  <h2>{visible(agent.name)}</h2>
                  <p class="muted">{visible(agent.description)}</p>
                  {agent.problem !== undefined && (
                    <p class="failed breaks">{`✕ does not load: ${visible(agent.problem)}`}</p>
                  )}
                  <div class="tags">
                    <span class="tag">{agent.framework}</span>
                    {agent.model !== undefined && <span class="tag">{visible(agent.model)}</span>}
                    {agent.approval_required_tools.length > 0 && (
                      <span class="tag warn">
                        {`asks for ${plural(agent.approval_required_tools.length, 'tool')}`}
                      </span>
                    )}
                  </div>
                </a>
              ))}
            </div>
          )
        }
      </Shown>
    </>
  );
}
