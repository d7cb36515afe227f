import type { AgentType, AnyAgent, InputOf } from '../agent-types.ts';
import type { SessionRecord, SessionTokenRecord } from '../generated/records.ts';
import type { CreateSessionToken, StopSession, UpdateSession } from '../generated/requests.ts';
import { Interactions } from '../runs/interactions.ts';
import type { Run } from '../runs/run.ts';
import { Runs, type StartOptions } from '../runs/runs.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { Files } from './files.ts';
import { SessionConnections } from './session-connections.ts';
import { UiMessages } from './ui-messages.ts';

/** A session by its id. Creating it sends no request. */
export class SessionHandle<Type extends AgentType = AnyAgent> {
  readonly id: string;
  readonly runs: Runs<Type>;
  readonly interactions: Interactions;
  readonly files: Files;
  readonly connections: SessionConnections;
  readonly uiMessages: UiMessages;
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, id: string) {
    this.#transport = transport;
    this.#path = at`/v1/sessions/${id}`;
    this.id = id;
    this.runs = new Runs(transport, id);
    this.interactions = new Interactions(transport, id);
    this.files = new Files(transport, id);
    this.connections = new SessionConnections(transport, id);
    this.uiMessages = new UiMessages(transport, id);
  }

  /** Reads the current state of the session. */
  read({ signal }: CallOptions = {}): Promise<SessionRecord> {
    return this.#transport.json({ method: 'GET', path: this.#path, signal });
  }

  /**
   * Starts a run.
   *
   * @example
   * const run = await session.run('Summarise the release.');
   * console.log(await run.text());
   */
  run(input: InputOf<Type>, options: StartOptions = {}): Promise<Run<Type['output']>> {
    return this.runs.start(input, options);
  }

  /**
   * Cancels active and queued runs and suspends the session; `mode: 'terminate'` ends it permanently.
   */
  stop({ signal, ...body }: StopSession & CallOptions = {}): Promise<SessionRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#path}/stop`,
      json: body,
      repeatable: 'always',
      signal,
    });
  }

  /** Changes the title and labels. Labels are merged by key, and null removes one. */
  update({ signal, ...body }: UpdateSession & CallOptions): Promise<SessionRecord> {
    const path = this.#path;
    return this.#transport.json({
      method: 'PATCH',
      path,
      json: body,
      repeatable: 'always',
      signal,
    });
  }

  /** Resumes a stopped session, with its history and files. */
  resume({ signal }: CallOptions = {}): Promise<SessionRecord> {
    const path = `${this.#path}/resume`;
    return this.#transport.json({ method: 'POST', path, repeatable: 'always', signal });
  }

  /**
   * Creates a token that opens this session and nothing else, for a page of your product. The page passes it to
   * `openSession()`.
   *
   * @example
   * const { token } = await session.createToken({ end_user: user.id });
   */
  createToken({
    signal,
    ...body
  }: CreateSessionToken & CallOptions = {}): Promise<SessionTokenRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#path}/tokens`,
      json: body,
      repeatable: 'always',
      signal,
    });
  }
}

/** A session with the record that the request returned. */
export class Session<Type extends AgentType = AnyAgent> extends SessionHandle<Type> {
  readonly record: SessionRecord;

  constructor(transport: Transport, record: SessionRecord) {
    super(transport, record.id);
    this.record = record;
  }
}
