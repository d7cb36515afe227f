import { hash } from 'node:crypto';
import {
  type InteractionFilter,
  type InteractionKey,
  type RunId,
  type SessionId,
  interactionKey,
  limits,
  permissionAnswer,
  questionAnswer,
} from '@convoke/contract';
import type { Agent } from '../domain/agent.ts';
import type { RequestActor } from '../domain/audit.ts';
import { approvedEvent } from '../domain/run/interaction-event.ts';
import {
  type Interaction,
  type InteractionAnswer,
  type PermissionRequest,
  type AnsweredInteraction,
  type Approvals,
  answerInteraction as answered,
  approvedInput,
  interactionAt,
  rememberedOf,
} from '../domain/interaction.ts';
import { type Json, type JsonObject, canonicalJson } from '../domain/json.ts';
import type { Allower } from '../domain/rules/approvers.ts';
import { resumeLive } from '../domain/run/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import { runDispatched } from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import type { CutPage, PageRequest } from '../ports/page.ts';
import { recordAudit } from './audit.ts';
import { claimKey, keyScope } from './once.ts';
import { recordAnswer } from './record-answer.ts';
import { type Holder, lockRun, recordMove } from './record.ts';
import { Refusal, orRefuse, refuse } from './refusal.ts';
import { judgeAllow } from './rules/allowing.ts';
import type { Services } from './services.ts';

export async function listInteractions(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  request: {
    readonly sessionId: SessionId;
    readonly status: InteractionFilter;
    readonly isRemembered?: boolean;
    readonly page: PageRequest;
  },
): Promise<CutPage<Interaction>> {
  const { sessionId } = request;
  if ((await store.read.sessions.find(scope, sessionId)) === undefined) refuse('not_found');
  const now = clock.now();
  const listed = await store.read.interactions.list(scope, { ...request, now });
  return { ...listed, items: listed.items.map((interaction) => interactionAt(interaction, now)) };
}

/** The interaction of a session with this key, as of now. */
export async function findOfSession(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { sessionId, key }: { readonly sessionId: SessionId; readonly key: InteractionKey },
): Promise<Interaction | undefined> {
  const found = await store.read.interactions.find(scope, sessionId, key);
  return found && interactionAt(found, clock.now());
}

export interface AnswerInteraction {
  readonly sessionId: SessionId;
  readonly key: InteractionKey;
  readonly body: JsonObject;
  readonly by: RequestActor;
  readonly allower: Allower;
}

/**
 * D-38: records the answer, emits its event and makes the run ready once no interaction is pending, all in
 * one transaction: an accepted answer can neither be lost nor be acted on twice.
 */
export async function answerInteraction(
  services: Pick<
    Services,
    'store' | 'clock' | 'fanout' | 'metrics' | 'traces' | 'agents' | 'knownRules'
  >,
  scope: TenantScope,
  request: AnswerInteraction,
): Promise<Interaction> {
  const { store, clock } = services;
  requireAnswer(request.body);
  return store.transaction(async (tx) => {
    const known = await tx.interactions.find(scope, request.sessionId, request.key);
    const runId = (known ?? refuse('not_found')).runId;
    const seen = await lockRun(tx, { scope, sessionId: request.sessionId, runId });
    // Read again under the lock: no other request can answer it from here on.
    const interaction = await tx.interactions.find(scope, request.sessionId, request.key);
    if (seen === undefined || interaction === undefined) return refuse('not_found');
    const now = clock.now();
    const answer = readAnswer(interaction, request.body);
    if (answer.kind === 'permission' && answer.updatedInput !== undefined) {
      refuseFixedInput(services.agents.find(seen.run.agentName));
    }
    const { by, allower } = request;
    const judging = { run: seen.run, interaction, answer, allower, now };
    const judged = await judgeAllow(services, tx, judging);
    const { approvals } = judged ?? {};
    const ruling = orRefuse(answered(interaction, answer, { actor: by.id, now, ...judged }));
    if (ruling.outcome === 'repeated') return ruling.interaction;
    const isApproval = ruling.outcome === 'approved';
    if (ruling.outcome === 'approved') {
      await tx.interactions.saveApprovals(ruling.interaction);
      const events = approvals === undefined ? [] : [approvedEvent(ruling.interaction, approvals)];
      recordMove(services, tx, { seen, move: { run: seen.run, events } });
    } else {
      await requireRoom(tx, ruling.interaction);
      await tx.interactions.settle(ruling.interaction);
      await recordAnswer(services, tx, { seen, interaction: ruling.interaction, now });
    }
    await recordAudit(tx, {
      chain: scope.organizationId,
      at: now,
      by,
      action: isApproval ? 'interaction.approve' : 'interaction.answer',
      object: interaction.key,
      details: { ...answerDetails(interaction, answer), ...approvalDetails(approvals) },
    });
    return ruling.interaction;
  });
}

/** Under the lock of the session, so that answers which come at once are counted too. */
async function requireRoom(tx: StoreTransaction, interaction: AnsweredInteraction): Promise<void> {
  const width = rememberedOf(interaction);
  if (width === undefined || interaction.kind !== 'permission') return;
  const { memoriesMax, memoryInputMaxCharacters: most } = limits;
  const sizes = [interaction.toolInput, approvedInput(interaction)].map(
    (input) => canonicalJson(input).length,
  );
  if (Math.max(...sizes) > most) {
    invalidAnswer(`an input of more than ${most} characters cannot be remembered`);
  }
  if ((await tx.interactions.countMemories(interaction)) >= memoriesMax) {
    invalidAnswer(`the session remembers ${memoriesMax} allows already; forget one first`);
  }
}

function approvalDetails(approvals: Approvals | undefined): JsonObject {
  if (approvals === undefined) return {};
  const { given, needed } = approvals;
  return { approved_by: given.map(({ by }) => by), needed };
}

/**
 * Answers an interaction if it still waits. Returns the interaction as it is then; undefined when the session
 * has none with this key.
 */
export async function answerPending(
  services: Parameters<typeof answerInteraction>[0],
  scope: TenantScope,
  request: AnswerInteraction,
): Promise<Interaction | undefined> {
  const find = () => services.store.read.interactions.find(scope, request.sessionId, request.key);
  const known = await find();
  if (known === undefined || interactionAt(known, services.clock.now()).status !== 'pending') {
    return known;
  }
  try {
    return await answerInteraction(services, scope, request);
  } catch (error) {
    // Another answer, or the end of the run, was first.
    const isLate =
      error instanceof Refusal &&
      (error.code === 'interaction_answered' || error.code === 'interaction_not_pending');
    if (isLate) return find();
    throw error;
  }
}

export interface MessageAnswer {
  readonly runId: RunId;
  /** Names the message. */
  readonly messageKey: string;
  readonly text: string;
  /** The question that the message answers if it is new. */
  readonly question: InteractionKey | undefined;
}

/**
 * The question that a message answers: however often it is sent, the one that was open when it came first (D-235).
 * Undefined for a new message where the run asks nothing.
 */
export async function claimQuestion(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { runId, messageKey: key, text, question }: MessageAnswer,
): Promise<InteractionKey | undefined> {
  const place = `answer_run:${runId}`;
  if (question === undefined) {
    const known = await store.read.idempotency.find(keyScope({ scope, place }), key);
    return known && interactionKey(known.resourceId);
  }
  const now = clock.now();
  const claim = { scope, place, key, body: { text }, resourceId: question, now };
  const first = await store.transaction((tx) => claimKey(tx, claim));
  return first.fresh ? question : interactionKey(first.resourceId);
}

/**
 * Digests of the request and of the answer. They prove what was asked and answered while the audit keeps no
 * text of a conversation beyond its tenant.
 */
function answerDetails(interaction: Interaction, answer: InteractionAnswer): JsonObject {
  const { tenantId, sessionId, runId, kind } = interaction;
  return {
    tenant_id: tenantId,
    session_id: sessionId,
    run_id: runId,
    kind,
    ...(interaction.kind === 'permission' ? permissionDetails(interaction) : {}),
    ...(answer.kind === 'permission' ? { decision: answer.decision } : {}),
    ...(answer.kind === 'permission' && answer.remember !== undefined
      ? { remembered: answer.remember }
      : {}),
    asked_sha256: sha256(
      interaction.kind === 'permission' ? interaction.toolInput : interaction.question,
    ),
    answer_sha256: sha256({ ...answer }),
  };
}

function permissionDetails({ toolName, asked = [] }: PermissionRequest): JsonObject {
  const rules = asked.map(({ source, name }) => ({ source, name }));
  return { tool_name: toolName, ...(rules.length > 0 && { rules }) };
}

function sha256(value: Json): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}

/** D-52: a body that answers nothing is refused before the interaction is looked for. */
function requireAnswer(body: JsonObject): void {
  if (permissionAnswer.safeParse(body).success || questionAnswer.safeParse(body).success) return;
  invalidAnswer(
    'a permission takes {"decision": "allow" | "deny"}, a question takes {"answer": "…"} or {"declined": true}',
  );
}

/** Refuses an answer of the wrong shape for the kind; the interaction stays pending (D-38). */
function readAnswer(interaction: Interaction, body: JsonObject): InteractionAnswer {
  if (interaction.kind === 'permission') {
    const parsed = permissionAnswer.safeParse(body);
    if (!parsed.success) return invalidAnswer('a permission takes {"decision": "allow" | "deny"}');
    const { decision, message, updated_input, remember } = parsed.data;
    if (decision === 'deny' && remember !== undefined) {
      return invalidAnswer('remember goes with "allow" only');
    }
    if (decision === 'deny' && updated_input !== undefined) {
      return invalidAnswer('updated_input goes with "allow" only');
    }
    return {
      kind: 'permission',
      decision,
      ...(message === undefined ? {} : { message }),
      ...(updated_input === undefined ? {} : { updatedInput: updated_input }),
      ...(remember === undefined ? {} : { remember }),
    };
  }
  // First: the schema would check every element before it finds that there are too many.
  const { answer: given } = body;
  if (Array.isArray(given) && given.length > limits.answerMaxChoices) {
    return invalidAnswer(`a question takes at most ${limits.answerMaxChoices} choices`);
  }
  const parsed = questionAnswer.safeParse(body);
  if (!parsed.success) {
    return invalidAnswer('a question takes {"answer": "…"} or {"declined": true}');
  }
  if ('declined' in parsed.data) {
    const { message } = parsed.data;
    return { kind: 'question', declined: true, ...(message === undefined ? {} : { message }) };
  }
  const { answer } = parsed.data;
  if (Array.isArray(answer) && answer.length > 1 && !interaction.multiple) {
    return invalidAnswer('this question takes one answer');
  }
  return { kind: 'question', answer };
}

/** A changed input that the framework cannot pass on would be recorded as an approval, and then never run. */
function refuseFixedInput(agent: Agent | undefined): void {
  if (agent?.hasFixedToolInput !== true) return;
  invalidAnswer(
    `updated_input cannot be applied, because ${agent.framework} agents run a call only as they asked for it; ` +
      'allow or deny it as shown',
  );
}

function invalidAnswer(what: string): never {
  return refuse('invalid_answer', { message: `The answer does not fit the interaction: ${what}.` });
}

/** Marks the answers that a live agent process took as applied; the run executes again once none is pending. */
export async function markLiveAnswers(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces'>,
  holder: Holder,
): Promise<void> {
  await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, holder);
    if (seen?.run.status !== 'waiting' || seen.run.leaseEpoch !== holder.epoch) return;
    if (seen.run.lease === null) return;
    const now = services.clock.now();
    await tx.interactions.markApplied(holder.runId, now);
    if (seen.run.pendingInteractions > 0) return;
    recordMove(services, tx, {
      seen,
      move: {
        run: resumeLive(seen.run, now),
        session: runDispatched(seen.session, seen.run.id, now),
        events: [],
      },
    });
  });
}
