import { type RunId, isTerminalRunStatus } from '@convoke/contract';
import { markLiveAnswers } from '../app/interactions.ts';
import { outputTextMaxCharacters, readOutputText } from '../app/output-text.ts';
import type { Agent } from '../domain/agent.ts';
import { harnessEventType } from '../domain/run-event.ts';
import type { RunOutcome } from '../domain/run.ts';
import type { HarnessEvent, Leg } from '../ports/harness.ts';
import type { Span } from '../ports/traces.ts';
import { type ClaimedLeg, answerOf } from './claim-leg.ts';
import { collectOutputs } from './collect-outputs.ts';
import { saveFolder } from './save-snapshot.ts';
import { LegWriter } from './leg-writer.ts';
import { type LegStart, prepareLeg } from './prepare-leg.ts';
import type { LegOutcome } from './record-leg.ts';
import { retryStorage } from './retry-storage.ts';
import type { ExecutionServices } from './services.ts';

export interface Supervision {
  /** Executes one leg to its end and records it. Never rejects. */
  execute(claimed: ClaimedLeg): Promise<void>;
  /** Somebody may want something of the run: looks what. */
  checkControl(): void;
  /** The lease may be in other hands: ends every process of the leg and records nothing. */
  lose(): void;
  /** The process is stopping: ends the run here and now rather than leave it to recovery. */
  abandon(): Promise<void>;
  /** Stops listening; for a run that was not claimed. */
  leave(): void;
}

export function supervise(
  services: ExecutionServices,
  runId: RunId,
  holdsLease: () => boolean,
): Supervision {
  return new RunSupervision(services, runId, holdsLease);
}

/** Made once: a new one per leg would cost a stack trace that nobody reads. */
const legIsOver = new DOMException('The leg is over.', 'AbortError');

/** What ends a leg from outside: nobody waits for the leg any more. */
type Verdict = RunOutcome | 'lost';

class RunSupervision implements Supervision {
  readonly #services: ExecutionServices;
  readonly #runId: RunId;
  readonly #holdsLease: () => boolean;
  readonly #unsubscribe: () => void;
  readonly #abort = new AbortController();
  readonly #timers: (() => void)[] = [];
  readonly #verdict = Promise.withResolvers<Verdict>();
  #claimed: ClaimedLeg | undefined;
  #span: Span | undefined;
  #leg: Leg | undefined;
  #done: Promise<void> | undefined;
  #isAsked = false;
  #isJudged = false;
  #isCancelling = false;
  #text: string | undefined = '';
  #usage: LegOutcome['usage'];

  constructor(services: ExecutionServices, runId: RunId, holdsLease: () => boolean) {
    this.#services = services;
    this.#runId = runId;
    this.#holdsLease = holdsLease;
    this.#unsubscribe = services.fanout.subscribe(`control:${runId}`, () => this.checkControl());
  }

  execute(claimed: ClaimedLeg): Promise<void> {
    this.#claimed = claimed;
    this.#done = this.#traced(claimed)
      .catch((error: unknown) =>
        // The lease runs out and recovery ends the run: nothing is lost but the reason.
        this.#services.log.error('a leg could not be recorded', error, { run_id: this.#runId }),
      )
      .finally(() => this.leave());
    return this.#done;
  }

  lose(): void {
    this.#judge('lost');
  }

  async abandon(): Promise<void> {
    this.#judge(failed('worker_lost', 'The server was stopped while this run was executing.'));
    await this.#done;
  }

  leave(): void {
    this.#unsubscribe();
    for (const forget of this.#timers) forget();
  }

  /** A trace of its own: whoever started the run has long been answered. The run's id leads from one to the other. */
  #traced(claimed: ClaimedLeg): Promise<void> {
    const { id, agentName } = claimed.run;
    const attributes = { 'convoke.run_id': id, 'convoke.agent': agentName };
    return this.#services.traces.within({ name: 'run leg', of: 'itself', attributes }, (span) => {
      this.#span = span;
      return this.#execute(claimed);
    });
  }

  async #execute(claimed: ClaimedLeg): Promise<void> {
    const patience = { clock: this.#services.clock, shouldRetry: this.#holdsLease };
    this.#text = await retryStorage(patience, () => this.#textSoFar(claimed));
    const agent = this.#services.agents.find(claimed.run.agentName);
    const sink = new LegWriter(this.#services, {
      holder: claimed.holder,
      lastSeq: claimed.run.lastSeq,
      waitMs: (agent?.limits.waitHours ?? 1) * 3_600_000,
      onLost: () => this.#judge('lost'),
    });
    const preparing = async () => agent && prepareLeg(this.#services, { claimed, agent, sink });
    const started = await retryStorage(patience, preparing);
    if (agent === undefined || started === undefined) {
      return sink.finish(this.#outcome(agentGone(claimed.run.agentName)));
    }
    if (!started.ready) return sink.finish(this.#outcome(started.outcome));
    if (!this.#holdsLease()) this.lose();
    // What was judged while the workspace was made ready never begins.
    const outcome = this.#isJudged
      ? await this.#verdict.promise
      : await Promise.race([this.#runLeg({ agent, started, sink }), this.#verdict.promise]);
    // Whatever the leg still says or does after the verdict is not part of the run.
    this.#abort.abort(legIsOver);
    if (this.#isJudged) await this.#kill();
    if (outcome === 'lost') {
      this.#services.log.warn('lease lost', { run_id: this.#runId });
      this.#services.metrics.leasesLost.add(1);
      return;
    }
    await this.#collectOutputs(claimed);
    const saved = await saveFolder(this.#services, claimed, agent);
    for (const event of saved?.events ?? []) await sink.push(event);
    await sink.finish({ ...this.#outcome(outcome), snapshot: saved?.state });
    await saved?.settle(!sink.isLost);
  }

  /** Before the end of the leg is told, so that whoever hears of it finds the files. */
  async #collectOutputs(claimed: ClaimedLeg): Promise<void> {
    try {
      await collectOutputs(this.#services, claimed);
    } catch (error) {
      // The run did what it did: what was not taken now is offered again after the next leg.
      this.#services.log.error('outputs could not be collected', error, { run_id: this.#runId });
    }
  }

  /** A parked run without a text either said nothing yet or more than its field holds: the log knows. */
  async #textSoFar({ run, answers }: ClaimedLeg): Promise<string | undefined> {
    if (answers === undefined || run.outputText !== null) return run.outputText ?? '';
    return readOutputText(this.#services.store, run);
  }

  #judge(verdict: Verdict): void {
    this.#isJudged = true;
    this.#verdict.resolve(verdict);
  }

  async #runLeg({ agent, started, sink }: LegWork): Promise<RunOutcome | { status: 'waiting' }> {
    const { harness, input, context } = started;
    try {
      const { signal } = this.#abort;
      this.#leg = harness.start(input, { ...context, signal, holdsLease: this.#holdsLease });
      this.#limitTime(agent);
      if (this.#isAsked) this.checkControl();
      for await (const event of this.#leg) {
        if (event.type === 'end') return endOf(event);
        const pause = this.#take(event, agent, sink);
        if (pause !== undefined) await pause;
      }
      return failed('agent_error', 'The agent ended without saying how.');
    } catch (error) {
      this.#services.log.error('a harness failed', error, {
        run_id: this.#runId,
        agent: agent.name,
      });
      return failed('internal_error', `The ${agent.framework} harness failed unexpectedly.`);
    }
  }

  #take(
    event: Exclude<HarnessEvent, { type: 'end' }>,
    agent: Agent,
    sink: LegWriter,
  ): Promise<void> | undefined {
    switch (event.type) {
      case 'message_delta': {
        if (event.text === '') return undefined;
        const joined = this.#text === undefined ? undefined : this.#text + event.text;
        this.#text = (joined?.length ?? 0) > outputTextMaxCharacters ? undefined : joined;
        const model = event.model ?? agent.model ?? agent.framework;
        const data = { text: event.text, framework: agent.framework, model };
        return sink.push({ type: 'message_delta', data });
      }
      case 'permission_request':
      case 'user_question':
        return sink.push(event);
      case 'checkpoint':
        sink.checkpoint(event.state);
        return undefined;
      case 'usage':
        this.#usage = event;
        return undefined;
      case 'custom':
        return sink.push({ type: harnessEventType(agent.framework, event.name), data: event.data });
      default:
        return event satisfies never;
    }
  }

  #outcome(outcome: RunOutcome | { status: 'waiting' | 'workspace_lost' }): LegOutcome {
    this.#span?.note('convoke.outcome', outcome.status);
    return { ...outcome, outputText: this.#text || null, usage: this.#usage };
  }

  checkControl(): void {
    this.#isAsked = true;
    if (this.#leg === undefined) return;
    this.#lookWhat(this.#leg).catch((error: unknown) =>
      this.#services.log.error('a request to a run could not be read', error, {
        run_id: this.#runId,
      }),
    );
  }

  async #lookWhat(leg: Leg): Promise<void> {
    const claimed = this.#claimed;
    if (claimed === undefined) return;
    const run = await this.#services.store.read.runs.findById(claimed.run, this.#runId);
    if (
      run === undefined ||
      isTerminalRunStatus(run.status) ||
      run.leaseEpoch !== claimed.run.leaseEpoch
    ) {
      this.#judge('lost');
    } else if (run.status === 'cancelling') {
      await this.#cancel(leg);
    } else if (run.status === 'waiting') {
      await this.#deliverAnswers(leg, claimed);
    }
  }

  /** D-24: asks the leg to end; past the grace period its processes are killed and the run ends all the same. */
  async #cancel(leg: Leg): Promise<void> {
    if (this.#isCancelling) return;
    this.#isCancelling = true;
    this.#timers.push(
      this.#services.clock.after(this.#services.settings.cancelGraceMs, () =>
        this.#judge({ status: 'cancelled' }),
      ),
    );
    this.#abort.abort();
    await leg.cancel();
  }

  async #deliverAnswers(leg: Leg, claimed: ClaimedLeg): Promise<void> {
    const { store } = this.#services;
    const answered = await store.read.interactions.unapplied(this.#runId);
    const taken: string[] = [];
    for (const interaction of answered) {
      if (!this.#holdsLease()) return this.lose();
      if (await leg.answer(interaction.requestId, answerOf(interaction)))
        taken.push(interaction.key);
    }
    if (taken.length > 0) await markLiveAnswers(this.#services, claimed.holder);
  }

  #limitTime(agent: Agent): void {
    const { clock, log } = this.#services;
    const look = () =>
      this.#onTimeout(agent).catch((error: unknown) =>
        log.error('the time of a run could not be judged', error, { run_id: this.#runId }),
      );
    this.#timers.push(clock.after(agent.limits.runSeconds * 1000, () => void look()));
  }

  /** While a live runtime waits for a person it does not work: how long that may take is bounded by `wait_hours`. */
  async #onTimeout(agent: Agent): Promise<void> {
    if (await this.#isWaiting()) return this.#limitTime(agent);
    const limit = `${agent.limits.runSeconds} s`;
    this.#judge(failed('run_timeout', `The run took longer than the agent's ${limit}.`));
  }

  async #isWaiting(): Promise<boolean> {
    const claimed = this.#claimed;
    if (claimed === undefined) return false;
    // Storage trouble is no reason to let an agent work on.
    const run = await this.#services.store.read.runs
      .findById(claimed.run, this.#runId)
      .catch(() => undefined);
    return run?.status === 'waiting';
  }

  async #kill(): Promise<void> {
    await this.#leg
      ?.kill()
      .catch((error: unknown) =>
        this.#services.log.error('a leg could not be killed', error, { run_id: this.#runId }),
      );
  }
}

interface LegWork {
  readonly agent: Agent;
  readonly started: Extract<LegStart, { ready: true }>;
  readonly sink: LegWriter;
}

function endOf(event: Extract<HarnessEvent, { type: 'end' }>): RunOutcome | { status: 'waiting' } {
  if (event.outcome === 'error') return failed(event.code, event.message);
  return { status: event.outcome };
}

function agentGone(name: string): RunOutcome {
  return failed('agent_error', `The agent ${name} is no longer available on this server.`);
}

function failed(
  code: Extract<RunOutcome, { status: 'failed' }>['code'],
  message: string,
): RunOutcome {
  return { status: 'failed', code, message };
}
