import type { JSX } from 'preact';
import { bestToTry } from '../data/ready-agents.ts';
import { addressOf } from '../data/routes.ts';
import { Card } from '../parts/page.tsx';
import { type RunSummary, listAgents, listInteractions, listRuns } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { useResource, useTenant } from '../session/use.ts';

/** With more runs than this a person is no newcomer. */
const fewRuns = 5;

export interface FirstVisit {
  /** Nothing has run in this tenant yet. */
  readonly isEmpty: boolean;
  readonly steps: readonly { readonly text: string; readonly isDone: boolean }[] | undefined;
}

/**
 * The first steps that a newcomer has done so far; no steps for those who have done them all, or have run a few agents.
 */
export function useFirstVisit(): FirstVisit {
  const tenant = useTenant();
  const runs = useResource(`${tenant.tenantId}/first-runs`, () =>
    listRuns(tenant, { limit: fewRuns }, undefined),
  );
  const answers = useResource(`${tenant.tenantId}/first-answers`, () =>
    listInteractions(tenant, { status: 'answered', limit: 1 }, undefined),
  );
  const known = runs.data.value?.items;
  const hasAnswered = (answers.data.value?.items.length ?? 0) > 0;
  const isOver = known === undefined || known.length >= fewRuns;
  useRefreshOnNotice(
    ({ type }) => !isOver && (type.startsWith('run_') || type === 'interaction_answered'),
    () => Promise.all([runs.refresh(), answers.refresh()]),
  );
  const steps = known === undefined ? [] : stepsOf(known, hasAnswered);
  const isDone = isOver || steps.every((step) => step.isDone);
  return { isEmpty: known?.length === 0, steps: isDone ? undefined : steps };
}

function stepsOf(runs: readonly RunSummary[], hasAnswered: boolean) {
  return [
    { text: 'Send a message to an agent', isDone: runs.length > 0 },
    { text: 'Answer its question or approve its tool call', isDone: hasAnswered },
    { text: 'See the run complete', isDone: runs.some(({ status }) => status === 'completed') },
  ];
}

/** The one thing to do on a first visit, with its prompt filled in, and the steps ticked off as they happen. */
export function FirstSteps({ visit }: { readonly visit: FirstVisit }): JSX.Element | null {
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  const agent = bestToTry(agents.data.value ?? []);
  if (visit.steps === undefined || agent === undefined) return null;
  const params = { tenant: tenant.tenantId, agent: agent.name };
  return (
    <Card title="Run your first agent">
      <div class="card-body stack">
        <ol class="first-steps">
          {visit.steps.map(({ text, isDone }) => (
            <li key={text} class={isDone ? 'done' : ''}>
              <span aria-hidden="true">{isDone ? '✓' : '○'}</span> {text}
              {isDone && <span class="hidden-text"> (done)</span>}
            </li>
          ))}
        </ol>
        <div class="buttons">
          <a class="button primary" href={addressOf('agent', params, { prompt: 'Hello!' })}>
            {`Try ${agent.name}`}
          </a>
          <span class="muted">{agent.description}</span>
        </div>
      </div>
    </Card>
  );
}
