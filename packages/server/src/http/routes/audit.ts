import { findAudit, getAuditStatus } from '../../app/audit-checks.ts';
import type { Services } from '../../app/services.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { auditStatusView, auditView } from '../views/audit.ts';

export function auditRoutes(
  services: Pick<Services, 'store'>,
  { cursors, actorNames }: RouteParts,
): Handlers<'list_audit' | 'get_audit_status'> {
  return {
    async list_audit({ caller, query }) {
      const { organizationId } = caller;
      const { action, actor_id: actorId, object, outcome } = query;
      const [from, to] = [timeOf(query.from), timeOf(query.to)];
      const filter = { action, actorId, object, outcome, from, to };
      const list = `audit:${organizationId}:${JSON.stringify(filter)}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => findAudit(services, organizationId, { filter, page }),
        idOf: ({ seq }) => String(seq),
      });
      const names = await actorNames.of(items.map(({ by }) => by.id));
      const rows = items.map((row) => auditView(row, names.get(row.by.id)));
      return { status: 200, body: { rows, ...next } };
    },

    async get_audit_status({ caller }) {
      const status = await getAuditStatus(services, caller.organizationId);
      return { status: 200, body: auditStatusView(status) };
    },
  };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
