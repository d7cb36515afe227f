import { splitLabel } from '@convoke/contract';
import { waitsOf, withWaits } from '../../app/runs/runs.ts';
import type { Services } from '../../app/services.ts';
import {
  type InteractionSummary,
  findInteraction,
  findRun,
  getOverview,
  listTenantInteractions,
  listTenantRuns,
} from '../../app/tenant-reads.ts';
import { actorsOf } from '../../domain/interaction.ts';
import type { RunSummary } from '../../domain/run/run-summary.ts';
import { readerOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { runView } from '../views/runs.ts';
import {
  interactionInTenantView,
  interactionSummaryView,
  overviewView,
  runSummaryView,
} from '../views/tenant-reads.ts';

type TenantReads =
  | 'list_tenant_runs'
  | 'find_run'
  | 'list_tenant_interactions'
  | 'find_interaction'
  | 'get_overview';

export function tenantReadRoutes(
  services: Pick<Services, 'store' | 'clock' | 'traces' | 'agents' | 'knownRules'>,
  { cursors, actorNames }: RouteParts,
): Handlers<TenantReads> {
  return {
    async list_tenant_runs({ caller, query }) {
      const { limit: _limit, cursor: _cursor, order: _order, ...selection } = query;
      const filter = {
        statuses: query.status,
        agentName: query.agent_name,
        agentDigest: query.agent_digest,
        labels: query.label?.map(splitLabel),
        errorCode: query.error_code,
        createdAfter: query.created_after,
        createdBefore: query.created_before,
        text: query.q,
        feedback: feedbackIn(query),
      };
      const { ancestor_run_id: ancestorRunId } = query;
      const list = `tenant_runs:${caller.scope.tenantId}:${JSON.stringify(selection)}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listTenantRuns(services, caller.scope, { filter, ancestorRunId, page }),
        idOf: (run) => run.id,
      });
      const names = await actorNames.of(items.map(({ createdBy }) => createdBy));
      const runs = await shownRuns(services, items, ancestorRunId !== undefined);
      return {
        status: 200,
        body: { runs: runs.map((run) => runSummaryView(run, names)), ...next },
      };
    },

    async find_run({ caller, params }) {
      const run = await findRun(services, caller.scope, params.run_id);
      const names = await actorNames.of([run.createdBy, run.cancelledBy]);
      return { status: 200, body: runView(await withWaits(services, run), names) };
    },

    async list_tenant_interactions({ caller, query }) {
      const { limit: _limit, cursor: _cursor, order: _order, ...selection } = query;
      const reader = readerOf(caller);
      const filter = {
        status: query.status,
        kind: query.kind,
        agentName: query.agent_name,
        labels: query.label?.map(splitLabel),
        allowableBy: query.can_allow === undefined ? undefined : reader,
      };
      const list = `tenant_interactions:${caller.scope.tenantId}:${JSON.stringify(selection)}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listTenantInteractions(services, caller.scope, { filter, page }),
        idOf: ({ key }) => key,
      });
      const names = await actorNames.of(items.flatMap(actorsIn));
      const interactions = items.map((item) => interactionSummaryView(item, names, reader));
      return { status: 200, body: { interactions, ...next } };
    },

    async find_interaction({ caller, params }) {
      const asking = { key: params.interaction_key, reader: readerOf(caller) };
      const found = await findInteraction(services, caller.scope, asking);
      const names = await actorNames.of(actorsOf(found.interaction));
      return { status: 200, body: interactionInTenantView(found, names) };
    },

    async get_overview({ caller }) {
      return { status: 200, body: overviewView(await getOverview(services, caller.scope)) };
    },
  };
}

function actorsIn({ topic, approvals }: InteractionSummary): readonly (string | null)[] {
  return [topic.answeredBy, ...approvals.map(({ by }) => by)];
}

interface FeedbackQuery {
  readonly feedback?: string | undefined;
  readonly score_min?: number | undefined;
  readonly score_max?: number | undefined;
}

function feedbackIn({ feedback: key, score_min, score_max }: FeedbackQuery) {
  return key === undefined ? undefined : { key, scoreMin: score_min, scoreMax: score_max };
}

/** A tree of calls shows for each of them what it waits for: one of them is why the whole is stuck. */
function shownRuns(
  services: Pick<Services, 'store'>,
  runs: readonly RunSummary[],
  isTree: boolean,
) {
  return Promise.all(
    runs.map(async (run) => ({
      run,
      waitingOn: isTree ? await waitsOf(services, run) : undefined,
    })),
  );
}
