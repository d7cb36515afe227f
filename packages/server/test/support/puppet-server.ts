import type { AfterLoss } from '../../src/domain/run/recovery.ts';
import { type AgentYaml, usualAgents } from './agents.ts';
import { Puppet } from './puppet-harness.ts';
import { type ServerOptions, type TestServer, startServer } from './server.ts';

export interface PuppetServerOptions extends Omit<ServerOptions, 'harnesses'> {
  /** Settings of the agent `puppet`. */
  readonly puppetAgent?: AgentYaml;
  /** What its framework can do when its worker is gone. */
  readonly afterLoss?: AfterLoss;
}

export interface PuppetServer {
  readonly server: TestServer;
  readonly puppet: Puppet;
}

/**
 * Starts a server whose agent `puppet` does what the test says; the usual agents are there too, unless others are
 * given.
 */
export async function startPuppetServer({
  agents = usualAgents,
  puppetAgent,
  afterLoss = 'none',
  ...options
}: PuppetServerOptions = {}): Promise<PuppetServer> {
  const puppet = new Puppet({ afterLoss });
  const server = await startServer({
    ...options,
    harnesses: [puppet],
    agents: { ...agents, puppet: puppet.agent(puppetAgent) },
  });
  return { server, puppet };
}
