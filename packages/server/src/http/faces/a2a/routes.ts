import { hash } from 'node:crypto';
import type { TenantId } from '@convoke/contract';
import {
  type A2aStream,
  type A2aTask,
  type A2aUpdate,
  legacyTask,
  legacyUpdate,
} from '@convoke/faces';
import { A2aError, failCall } from '../../../app/faces/a2a/failure.ts';
import { deliver } from '../../../app/faces/a2a/send.ts';
import { encoderOf, findTask, readTask, withHistory } from '../../../app/faces/a2a/tasks.ts';
import { eventsOfRow, hasNoLog } from '../../../app/faces/history.ts';
import { refuse } from '../../../app/refusal.ts';
import { logOf } from '../../../app/runs/run-log.ts';
import { cancelRun, getRun } from '../../../app/runs/runs.ts';
import type { Services } from '../../../app/services.ts';
import { requireScopes } from '../../../auth/gate.ts';
import { type Agent, isPublishedTo } from '../../../domain/agent.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import { allowerOf } from '../../actor.ts';
import { hasContent } from '../../conditional.ts';
import type { Cursors } from '../../cursors.ts';
import type { Call, Handlers, RawReply, Reply } from '../../handler.ts';
import { faceCaller } from '../caller.ts';
import { type FaceParts, sendFace } from '../stream.ts';
import { cardOf } from './card.ts';
import { type ReadMessage, readMessage, readTaskParams, refusePush } from './params.ts';
import { methodOf } from './methods.ts';
import {
  type A2aVersion,
  type RpcCall,
  type RpcId,
  failureOf,
  readCall,
  resultOf,
  rpcErrorOf,
  versionOf,
} from './rpc.ts';
import { pageOfTasks } from './task-pages.ts';

export interface A2aParts extends FaceParts {
  readonly cursors: Cursors;
  readonly baseUrl: string;
}

/** How long a message waits for its task (D-236), and a cancel for its end. */
const messageWaitMs = 600_000;
const cancelWaitMs = 15_000;

/** Agents of this server for clients of the Agent2Agent protocol (D-233 to D-236). */
export function a2aRoutes(
  services: Services,
  parts: A2aParts,
): Handlers<'get_agent_card' | 'call_published_agent'> {
  return {
    get_agent_card({ params, headers }) {
      const { organization_id: organizationId, tenant_id: tenant } = params;
      const agent = published(services, tenant, params.agent_name);
      if (agent === undefined) return refuse('agent_not_found');
      const place = { baseUrl: parts.baseUrl, organizationId, tenantId: tenant };
      const version = cardVersion(headers['a2a-version']);
      const body = cardOf(agent, place, version);
      const etag = `"${hash('sha256', JSON.stringify(body), 'base64url')}"`;
      const sent = { etag, vary: 'A2A-Version', 'cache-control': 'public, max-age=60' };
      return hasContent(headers['if-none-match'], etag)
        ? { status: 304, body: undefined, headers: sent }
        : { status: 200, body, headers: sent };
    },

    async call_published_agent(call) {
      const { params, query, headers, body } = call;
      // As for the card: neither says more than that there is no such agent.
      if (published(services, params.tenant_id, params.agent_name) === undefined) {
        return refuse('agent_not_found');
      }
      const rpc = readCall(body);
      try {
        if ('error' in rpc) throw rpc.error;
        if (rpc.isNotification) return { status: 204, body: undefined };
        const version = versionOf(headers['a2a-version'], query['A2A-Version']);
        return await new A2aCall(services, parts, { request: call, rpc, version }).answer();
      } catch (error) {
        return { status: 200, body: failureOf(rpc.id, rpcErrorOf(error)) };
      }
    },
  };
}

function published({ agents }: Services, tenant: TenantId, name: string): Agent | undefined {
  const agent = agents.find(name);
  return agent && isPublishedTo(agent, tenant, 'a2a') ? agent : undefined;
}

/** A client of an unknown version gets the card that says which are known. */
function cardVersion(header: string | undefined): A2aVersion {
  try {
    return versionOf(header);
  } catch (error) {
    if (error instanceof A2aError) return '1.0';
    throw error;
  }
}

type Request = Pick<Call<'call_published_agent'>, 'caller' | 'params' | 'request' | 'chargeRate'>;

interface CalledAgent {
  readonly request: Request;
  readonly rpc: RpcCall;
  readonly version: A2aVersion;
}

type Answer = Reply<'call_published_agent'>;

/** One call of a client. */
class A2aCall {
  readonly #services: Services;
  readonly #parts: A2aParts;
  readonly #called: CalledAgent;

  constructor(services: Services, parts: A2aParts, called: CalledAgent) {
    this.#services = services;
    this.#parts = parts;
    this.#called = called;
  }

  async answer(): Promise<Answer> {
    const { rpc, version } = this.#called;
    switch (methodOf(rpc.method, version)) {
      case 'send':
        return this.#send();
      case 'stream': {
        const run = await this.#deliver(readMessage(rpc.params));
        return this.#stream(run, true);
      }
      case 'get':
        return this.#get();
      case 'list':
        return this.#list();
      case 'cancel':
        return this.#cancel();
      case 'subscribe':
        return this.#subscribe();
      case 'push':
        return refusePush();
      case 'extended card':
        return failCall(
          'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
          'The agent has one card, for everyone.',
        );
      case undefined:
        return failCall('METHOD_NOT_FOUND', `There is no method of this name in ${version}.`);
    }
  }

  #deliver(message: ReadMessage): Promise<Run> {
    const { request } = this.#called;
    const agentName = request.params.agent_name;
    return deliver(this.#services, faceCaller(request), { agentName, message });
  }

  async #send(): Promise<Answer> {
    const message = readMessage(this.#called.rpc.params);
    const { isBlocking, historyLength } = message;
    const run = await this.#deliver(message);
    const task = isBlocking
      ? await this.#settled(run, messageWaitMs)
      : await readTask(this.#services, run, this.#reader);
    return this.#sent(withHistory(task, run, historyLength));
  }

  async #get(): Promise<Answer> {
    const { id, historyLength } = readTaskParams(this.#called.rpc.params);
    const run = await findTask(this.#services, this.#at, id);
    return this.#task(
      withHistory(await readTask(this.#services, run, this.#reader), run, historyLength),
    );
  }

  async #list(): Promise<Answer> {
    const { rpc, version } = this.#called;
    const { cursors } = this.#parts;
    const listed = await pageOfTasks(this.#services, this.#at, { cursors, params: rpc.params });
    const tasks = version === '1.0' ? listed.tasks : listed.tasks.map(legacyTask);
    return this.#result({ ...listed, tasks });
  }

  async #cancel(): Promise<Answer> {
    const { request } = this.#called;
    requireScopes(request.caller, 'runs:write');
    const { id: runId, sessionId } = await this.#find();
    const { scope, actor } = request.caller;
    const by = actor.id;
    const { run } = await cancelRun(this.#services, scope, { sessionId, runId, by });
    const task = await this.#settled(run, cancelWaitMs, false);
    if (hasEnded(task)) return this.#task(task);
    const open = await getRun(this.#services, scope, { sessionId, runId });
    return this.#task(await readTask(this.#services, open, this.#reader));
  }

  get #at() {
    const { caller, params } = this.#called.request;
    return { scope: caller.scope, agentName: params.agent_name };
  }

  get #reader() {
    return allowerOf(this.#called.request.caller);
  }

  #find(): Promise<Run> {
    return findTask(this.#services, this.#at, readTaskParams(this.#called.rpc.params).id);
  }

  /** Waits until the run has ended, or waits for a person. Returns the task as it is then. */
  async #settled(run: Run, ms: number, endsAtWait = true): Promise<A2aTask> {
    if (isEnded(run)) return readTask(this.#services, run, this.#reader);
    const { streams, follower } = this.#parts;
    const { caller, request } = this.#called.request;
    const encoder = encoderOf(run, { endsAtWait, reader: this.#reader });
    const take = (event: Parameters<A2aStream['take']>[0]) => encoder.take(event);
    await streams.hold({
      caller,
      request: request.raw,
      ms,
      wait: ({ signal }) =>
        follower.follow({
          run: logOf(run),
          after: 0,
          signal,
          take: ({ rendered, isCut, lastSeq }) => {
            rendered.forEach(take);
            if (!isCut && lastSeq >= run.lastSeq) encoder.pause();
            return encoder.isOver ? Promise.resolve(false) : undefined;
          },
        }),
    });
    return encoder.task();
  }

  /**
   * Version 1.0 refuses to subscribe to a task that has ended; 0.3 shows it once (D-470). A task that ends after this
   * is read from its log, so its stream has the end.
   */
  async #subscribe(): Promise<RawReply> {
    const run = await this.#find();
    if (isEnded(run) && this.#called.version === '1.0') {
      failCall('UNSUPPORTED_OPERATION', 'The task has ended: GetTask shows it.');
    }
    return this.#stream(run, false);
  }

  async #stream(run: Run, endsAtWait: boolean): Promise<RawReply> {
    const { rpc, version, request } = this.#called;
    const encoder = encoderOf(run, { endsAtWait, reader: this.#reader });
    const text = (updates: readonly A2aUpdate[]) =>
      updates.map((update) => frameOf(rpc.id, update, version)).join('');
    return sendFace(this.#parts, {
      caller: request.caller,
      run: logOf(run),
      encoder: {
        start: () => text(encoder.start()),
        take: (event) => text(encoder.take(event)),
        pause: () => text(encoder.pause()),
        isOver: () => encoder.isOver,
        mustCut: () => false,
      },
      instead: (await hasNoLog(this.#services, run)) ? eventsOfRow(run) : undefined,
      headers: { 'x-session-id': run.sessionId, 'x-run-id': run.id },
    });
  }

  /** The answer to a message may be a message in the protocol, so version 1.0 says that it is a task. */
  #sent(task: A2aTask): Answer {
    return this.#called.version === '1.0' ? this.#result({ task }) : this.#task(task);
  }

  #task(task: A2aTask): Answer {
    return this.#result(this.#called.version === '1.0' ? task : legacyTask(task));
  }

  #result(result: unknown): Answer {
    return { status: 200, body: resultOf(this.#called.rpc.id, result) };
  }
}

function hasEnded({ status: { state } }: A2aTask): boolean {
  return (
    state === 'TASK_STATE_COMPLETED' ||
    state === 'TASK_STATE_CANCELED' ||
    state === 'TASK_STATE_FAILED'
  );
}

function frameOf(id: RpcId, update: A2aUpdate, version: A2aVersion): string {
  const result = version === '1.0' ? update : legacyUpdate(update);
  return `data: ${JSON.stringify(resultOf(id, result))}\n\n`;
}
