import type { AgentDetails, SessionHandle } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { takesMore } from '../data/input/schema-fields.ts';
import { type RouteParams, addressOf } from '../data/routes.ts';
import { shownState } from '../data/run-rows.ts';
import { place, setQuery } from '../page/router.ts';
import { Button } from '../parts/button.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { Card, Heading, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Took } from '../parts/time.tsx';
import { listRuns, newestRuns } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';
import { SessionTalk } from './try-it.tsx';

export function AgentScreen({ agent: name = '' }: RouteParams): JSX.Element {
  useTitle(name);
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/agent/${name}`, () =>
    tenant.client.agents.get(name),
  );
  return (
    <Await resource={found} title="Agent">
      {(agent) => (
        <>
          <Heading title={agent.name}>
            <p class="muted">{agent.description}</p>
          </Heading>
          {agent.problem === undefined ? (
            <div class="columns side">
              <TryIt key={agent.name} agent={agent} />
              <div class="stack side-pane">
                <About agent={agent} />
                <Recent name={agent.name} canRun />
              </div>
            </div>
          ) : (
            <div class="stack">
              <Broken problem={agent.problem} />
              <Recent name={agent.name} canRun={false} />
            </div>
          )}
        </>
      )}
    </Await>
  );
}

function Broken({ problem }: { readonly problem: string }): JSX.Element {
  return (
    <div class="note failed-note">
      <p>
        <strong>Failed to load</strong>
      </p>
      <p class="breaks">{problem}</p>
      <p>Fix the file in the server’s agents folder. It reloads when you save.</p>
    </div>
  );
}

/** The conversation is a session, and its id is in the address: a reload shows the same. */
function TryIt({ agent }: { readonly agent: AgentDetails }): JSX.Element {
  const { client, tenantId } = useTenant();
  const inAddress = place.value.query.get('session') ?? undefined;
  const [opened, setOpened] = useState(inAddress);
  const [count, setCount] = useState(0);
  // Only a session that the address named has runs that this page did not start.
  const earlier = useResource(`${tenantId}/try/${opened ?? 'none'}`, () =>
    opened === undefined ? Promise.resolve([]) : newestRuns(client.sessions.at(opened)),
  );
  const creation = useRef<Promise<SessionHandle>>(undefined);
  const open = () => {
    if (opened !== undefined) return Promise.resolve(client.sessions.at(opened));
    const created = (creation.current ??= client.sessions.create(agent.name));
    created.then(
      ({ id }) => setQuery({ session: id }),
      // A refused creation is tried again with the next message.
      () => (creation.current = undefined),
    );
    return created;
  };
  const startNew = () => {
    creation.current = undefined;
    setOpened(undefined);
    setCount(count + 1);
    setQuery({ session: undefined });
  };
  return (
    <Card
      title="Try it"
      class="chat"
      aside={
        inAddress === undefined ? undefined : (
          <Button size="small" kind="quiet" onClick={startNew}>
            New session
          </Button>
        )
      }
    >
      <Await resource={earlier}>
        {(runs) => (
          <SessionTalk
            key={count}
            session={open}
            earlier={runs}
            takesFiles={agent.session_files_supported}
            schema={agent.input_schema}
            draft={place.peek().query.get('prompt') ?? undefined}
            welcome={<Welcome agent={agent} />}
          />
        )}
      </Await>
    </Card>
  );
}

/** Where the conversation will be. An agent that cannot run says so before a person has written to it. */
function Welcome({ agent }: { readonly agent: AgentDetails }): JSX.Element {
  const { name, missing_variables: missing } = agent;
  if (missing === undefined) {
    const isForm = takesMore(agent.input_schema);
    return (
      <Empty title={isForm ? `Start ${name} with this input.` : `Send a message to ${name}.`} />
    );
  }
  return (
    <div class="note waiting-note">
      <p>
        <strong>{`${name} can’t run yet`}</strong>
      </p>
      <p>
        {'The server has no environment variable '}
        <code>{missing.join(', ')}</code>
        {'. Set it and restart the server; until then, runs that need it fail.'}
      </p>
    </div>
  );
}

/** A program may ask about any tool, listed or not. */
function neededApprovals(tools: readonly string[], framework: string): JSX.Element | string {
  if (tools.includes('*')) return 'All';
  if (tools.length > 0) return <Names names={tools} />;
  return framework === 'code' || framework === 'stdio' ? 'The program asks for them' : 'None';
}

function About({ agent }: { readonly agent: AgentDetails }): JSX.Element {
  const { approval_required_tools: asks } = agent;
  return (
    <Card title="About">
      <dl class="facts card-body">
        <dt>Framework</dt>
        <dd>
          {agent.framework}
          {agent.model === undefined ? '' : ` · ${agent.model}`}
        </dd>
        {agent.missing_variables !== undefined && (
          <>
            <dt>Missing variables</dt>
            <dd>
              <Names names={agent.missing_variables} />
            </dd>
          </>
        )}
        <dt>Tools that need approval</dt>
        <dd>{neededApprovals(asks, agent.framework)}</dd>
        {agent.tools.length > 0 && (
          <>
            <dt>Tools</dt>
            <dd>{agent.tools.includes('*') ? 'All' : <Names names={agent.tools} />}</dd>
          </>
        )}
        {agent.skills.length > 0 && (
          <>
            <dt>Skills</dt>
            <dd>
              <Names names={agent.skills} />
            </dd>
          </>
        )}
        {agent.connections !== undefined && (
          <>
            <dt>Accounts</dt>
            <dd>{agent.connections.map(accountWords).join(', ')}</dd>
          </>
        )}
        <dt>Files</dt>
        <dd>{agent.session_files_supported ? 'Accepts files' : 'No files'}</dd>
        <dt>When busy</dt>
        <dd>{agent.on_busy === 'queue' ? 'Queues new runs' : 'Refuses new runs'}</dd>
        {agent.digest !== undefined && (
          <>
            <dt>Version</dt>
            <dd>
              <code title={agent.digest}>{agent.digest.slice(0, 8)}</code>
            </dd>
          </>
        )}
        {agent.loaded_at !== undefined && (
          <>
            <dt>Loaded</dt>
            <dd>
              <Time at={agent.loaded_at} />
            </dd>
          </>
        )}
      </dl>
      <Schemas agent={agent} />
    </Card>
  );
}

function Schemas({ agent }: { readonly agent: AgentDetails }): JSX.Element {
  return (
    <>
      <details class="card-body schema">
        <summary>Input schema</summary>
        <JsonTree value={agent.input_schema} name="input-schema" />
      </details>
      {agent.output_schema !== undefined && (
        <details class="card-body schema">
          <summary>Output schema</summary>
          <JsonTree value={agent.output_schema} name="output-schema" />
        </details>
      )}
    </>
  );
}

/** `github of the user`: the account that a run gets. */
function accountWords(account: NonNullable<AgentDetails['connections']>[number]): string {
  const { service, owner, required } = account;
  const whose = owner === 'tenant' ? 'of the tenant' : 'of the user';
  return `${service} ${whose}${required ? '' : ' (optional)'}`;
}

function Names({ names }: { readonly names: readonly string[] }): JSX.Element {
  return (
    <span class="tags">
      {names.map((name) => (
        <code class="tag" key={name}>
          {name}
        </code>
      ))}
    </span>
  );
}

function Recent(props: { readonly name: string; readonly canRun: boolean }): JSX.Element {
  const { name, canRun } = props;
  const tenant = useTenant();
  const runs = useResource(`${tenant.tenantId}/agent-runs/${name}`, () =>
    listRuns(tenant, { agent: name, limit: 8 }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => runs.refresh(),
  );
  const all = addressOf('runs', { tenant: tenant.tenantId }, { agent: name });
  return (
    <Card title="Recent runs" aside={<a href={all}>View all</a>}>
      <Await resource={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={canRun ? 'No runs yet. Send a message to start one.' : 'No runs yet.'} />
          ) : (
            <div class="list">
              {items.map((run) => (
                <a
                  key={run.id}
                  class="list-row"
                  data-row
                  href={addressOf('run', { tenant: tenant.tenantId, run: run.id })}
                >
                  <Status of={shownState(run)} />
                  <span class="grow clip">{run.preview}</span>
                  <span class="muted small">
                    <Took from={run.started_at} to={run.ended_at} />
                  </span>
                </a>
              ))}
            </div>
          )
        }
      </Await>
    </Card>
  );
}
