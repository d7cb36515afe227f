import { type AgentYaml, usualAgents } from './agents.ts';
import { Puppet } from './puppet-harness.ts';
import { type ServerOptions, type TestServer, startServer } from './server.ts';

export interface PuppetServerOptions extends Omit<ServerOptions, 'harnesses'> {
  /** Settings of the agent `puppet`. */
  readonly puppetAgent?: AgentYaml;
}

export interface PuppetServer {
  readonly server: TestServer;
  readonly puppet: Puppet;
}

/** Starts a server whose agent `puppet` does what the test says; the usual agents are there too, unless others are given. */
export async function startPuppetServer({
  agents = usualAgents,
  puppetAgent,
  ...options
}: PuppetServerOptions = {}): Promise<PuppetServer> {
  const puppet = new Puppet();
  const server = await startServer({
    ...options,
    harnesses: [puppet],
    agents: { ...agents, puppet: puppet.agent(puppetAgent) },
  });
  return { server, puppet };
}
