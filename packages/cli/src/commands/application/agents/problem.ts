import { loadServer } from '../../../server.ts';

/**
 * Why a server does not load an agent; undefined if it is not known here. The API does not tell clients about broken
 * folders, so the folder of agents on this machine is read, if there is one.
 */
export async function problemOf(name: string): Promise<string | undefined> {
  try {
    const { checkAgents, readConfig } = await loadServer();
    const [agent] = (await checkAgents(readConfig(process.env), name)) ?? [];
    return agent?.ok === false ? agent.problem : undefined;
  } catch {
    return undefined;
  }
}
