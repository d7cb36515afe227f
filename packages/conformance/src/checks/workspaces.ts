import { workspacesOf } from '../caller.ts';
import { type Check, check } from '../check.ts';
import { ensure, excerpt } from '../failure.ts';
import { booleanAt, listAt } from '../fields.ts';
import { hasStatus } from '../server.ts';

export const workspaceChecks: readonly Check[] = [
  check('4.1-discovery', 'workspaces are found with a token alone', async (kit) => {
    const headers = { authorization: `Bearer ${await kit.app.token()}` };
    hasStatus(await kit.server.send({ method: 'GET', path: '/v1/me/workspaces', headers }), 200);
  }),
  check('2-workspace', 'each projection has organization_id and tenant_id', async (kit) => {
    const { body } = hasStatus(await kit.app.get('/v1/me/workspaces'), 200);
    const found = workspacesOf(body, kit.dialect);
    ensure(found.length > 0, `no projection in ${excerpt(body)}`);
  }),
  check('4.2-workspaces', 'the projections contain the workspace of the calls', async (kit) => {
    const { body } = hasStatus(await kit.app.get('/v1/me/workspaces'), 200);
    const { organizationId, tenantId } = kit.app.workspace;
    const isHere = workspacesOf(body, kit.dialect).some(
      (each) => each.organizationId === organizationId && each.tenantId === tenantId,
    );
    ensure(isHere, `${organizationId} with ${tenantId} is not in ${excerpt(body)}`);
  }),
  check('4.2-whoami', 'whoami answers 200 in the selected workspace', async (kit) => {
    hasStatus(await kit.app.get('/v1/whoami'), 200);
  }),
  check('2-caller', 'whoami says whether files can be attached', async (kit) => {
    booleanAt(hasStatus(await kit.app.get('/v1/whoami'), 200).body, 'file_attachments_enabled');
  }),
  check('9-v1', 'paths work with /v1 and not without it', async (kit) => {
    hasStatus(await kit.app.get('/v1/whoami'), 200);
    hasStatus(await kit.app.get('/whoami'), 404);
  }),
  check('4.2-agents', 'the agents of the kit are listed by name', async (kit) => {
    const { agent } = kit.dialect;
    const { body } = hasStatus(await kit.app.get('/v1/agents'), 200);
    const names = listAt(body, agent.list).map((item) => JSON.stringify(item));
    for (const name of Object.values(kit.agentNames)) {
      const isListed = names.some((text) => text.includes(JSON.stringify(name)));
      ensure(isListed, `${name} is not in ${excerpt(body)}`);
    }
  }),
];
