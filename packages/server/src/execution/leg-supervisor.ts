import { type RunId, isTerminalRunStatus } from '@convoke/contract';
import { markLiveAnswers } from '../app/interactions.ts';
import { readOutputText } from '../app/runs/output-text.ts';
import type { Agent } from '../domain/agent.ts';
import type { Json } from '../domain/json.ts';
import { completedWith } from '../domain/run/completion.ts';
import { type RunOutcome, attemptOf } from '../domain/run/run.ts';
import { pricing } from '../domain/usage/prices.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Leg, LegEnd } from '../ports/harness.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import { readAllowance } from './usage/allowance.ts';
import { CallLedger } from './call-ledger.ts';
import { checkpointMaker } from './checkpoint-maker.ts';
import { canBeHandedBack } from './can-be-handed-back.ts';
import { type ClaimedLeg, answerOf } from './claim-leg.ts';
import { collectOutputs } from './folders/collect-outputs.ts';
import { agentFailure, agentGone, failed, internalError } from './leg-failures.ts';
import { LegOutput, outputTextSoFar } from './leg-output.ts';
import { legRules } from './recording/decide-calls.ts';
import { LegWriter } from './recording/leg-writer.ts';
import { limitRunTime } from './limit-run-time.ts';
import { type LegStart, prepareLeg } from './prepare-leg.ts';
import type { LegOutcome } from './recording/record-leg-end.ts';
import { recordCut } from './record-cut.ts';
import { renameFolder } from './folders/rename-folder.ts';
import { retryStorage } from '../runtime/retry-storage.ts';
import { folderSaver } from './folders/save-before-call.ts';
import { saveSnapshot } from './folders/save-snapshot.ts';
import type { ExecutionServices } from './services.ts';
import { TracedLeg } from './traced-leg.ts';

/** Made once: an error per leg would cost a stack trace each. */
const legIsOver = new DOMException('The leg is over.', 'AbortError');

/** The decision that ends a leg from outside. The supervisor does not wait for the leg after it. */
type Verdict = RunOutcome | 'lost' | 'cut';
/** How the agent ended the leg. */
type Ending = RunOutcome | { readonly status: 'waiting' | 'yielded' } | 'cut' | 'lost';

/**
 * - `preparing`: the run is about to be claimed, or its session folder is prepared; there is no leg yet.
 * - `woken`: as `preparing`, and the run was cancelled or answered: its row is read when the leg starts.
 * - `running`: the agent works or waits for a person.
 * - `yielding`: the server stops. The leg is asked to hand its run over, or is not started at all (D-85).
 * - `cancelling`: the leg is asked to end. The run ends cancelled, whatever the leg does; no request to yield follows
 *   (D-94).
 * - `over`: a verdict ended the leg from outside, in any phase. Nothing more is asked of it: it is killed.
 *
 * A leg that ends on its own keeps its phase, which says how to read its last event.
 */
type Phase = 'preparing' | 'woken' | 'running' | 'yielding' | 'cancelling' | 'over';

/**
 * Executes one leg of a run from its claim to its recorded end, and acts on what other parts of the service want of
 * the run: a cancel, answers to its questions, the end of the process.
 */
export class LegSupervisor {
  readonly #services: ExecutionServices;
  readonly runId: RunId;
  readonly #holdsLease: () => boolean;
  readonly #abort = new AbortController();
  readonly #verdict = Promise.withResolvers<Verdict>();
  readonly #onClose: (() => void)[] = [];
  /** The state that the leg gave with its end. */
  #state: Json | undefined;
  #output: LegOutput;
  #claimed: ClaimedLeg | undefined;
  #traced: TracedLeg | undefined;
  #leg: Leg | undefined;
  #done: Promise<void> | undefined;
  #phase: Phase = 'preparing';
  #calls: CallLedger | undefined;

  constructor(services: ExecutionServices, runId: RunId, holdsLease: () => boolean) {
    this.#services = services;
    this.runId = runId;
    this.#holdsLease = holdsLease;
    this.#output = new LegOutput('', services.prices);
    const { fanout } = services;
    this.#onClose.push(fanout.subscribe(`control:${runId}`, () => this.checkControl()));
  }

  /**
   * Executes the leg to its end and records it, from the next turn of the event loop on: the answer to the request that
   * started its run goes first, and often the reader that follows it. Never rejects.
   */
  execute(claimed: ClaimedLeg): Promise<void> {
    this.#claimed = claimed;
    this.#done = nextTurn()
      .then(() => {
        const traced = new TracedLeg(this.#services, claimed.run);
        this.#traced = traced;
        return traced.within(() => this.#execute(claimed));
      })
      .catch((error: unknown) =>
        // The lease expires and recovery ends the run; only the reason is lost.
        this.#services.log.error('leg could not be recorded', error, { run_id: this.runId }),
      )
      .finally(() => this.close());
    return this.#done;
  }

  /** Reads the run row and acts on a pending cancel or answers. */
  checkControl(): void {
    if (this.#phase === 'preparing') this.#phase = 'woken';
    if (this.#leg === undefined) return;
    this.#readControlState(this.#leg).catch((error: unknown) =>
      this.#services.log.error('control state of a run could not be read', error, {
        run_id: this.runId,
      }),
    );
  }

  /** Ends every process of the leg and records nothing: another worker may hold the lease. */
  lose(): void {
    this.#decide('lost');
  }

  /** Asks the leg to hand its run over at the next safe point, because the process stops (D-85). Cancel wins (D-94). */
  yield(): void {
    if (this.#phase === 'cancelling' || this.#phase === 'over') return;
    this.#phase = 'yielding';
    this.#leg
      ?.yield?.()
      .catch((error: unknown) =>
        this.#services.log.error('leg could not be asked to yield', error, { run_id: this.runId }),
      );
  }

  /** Ends the leg because the drain is over; its run continues where that is safe (D-86). */
  async cut(): Promise<void> {
    this.#decide('cut');
    await this.#done;
  }

  get callsInFlight(): number {
    return this.#calls?.inFlight ?? 0;
  }

  /** Drops subscriptions and timers; called directly only for a run that was not claimed. */
  close(): void {
    for (const drop of this.#onClose) drop();
  }

  async #execute(claimed: ClaimedLeg): Promise<void> {
    const { store, clock, agents, prices } = this.#services;
    const policy = { clock, shouldRetry: this.#holdsLease };
    const soFar =
      outputTextSoFar(claimed) ??
      (await retryStorage(policy, () => readOutputText(store, claimed.run)));
    this.#output = new LegOutput(soFar, prices, this.#traced);
    const agent = agents.find(claimed.run.agentName);
    const writer = new LegWriter(this.#services, {
      holder: claimed.holder,
      run: claimed.run,
      waitMs: (agent?.limits.waitHours ?? 1) * 3_600_000,
      rules: legRules(agent, claimed.run.createdBy),
      maker: checkpointMaker(this.#services, agent),
      onLost: () => this.#decide('lost'),
      onRefused: (message) => this.#decide(failed('agent_error', message)),
      onFailed: () => this.#decide(internalError),
      onBreach: (reason) => {
        this.#services.metrics.budgetsReached.add(1);
        this.#decide(failed('budget_exceeded', reason));
      },
    });
    if (agent === undefined) return writer.finish(this.#outcome(agentGone(claimed.run.agentName)));
    try {
      await this.#perform({ claimed, agent, writer });
    } catch (error) {
      // An outage of the storage leaves the run to recovery. Anything else would only happen again.
      if (error instanceof StorageUnavailable) throw error;
      this.#services.log.error('leg failed', error, { run_id: this.runId });
      this.#abort.abort(legIsOver);
      await this.#kill();
      await writer.finish(this.#outcome(internalError));
    }
  }

  /** Prepares, runs and records the leg. */
  async #perform({ claimed, agent, writer }: Omit<LegWork, 'started'>): Promise<void> {
    const policy = { clock: this.#services.clock, shouldRetry: this.#holdsLease };
    const started = await retryStorage(policy, () =>
      prepareLeg(this.#services, { claimed, agent, writer }),
    );
    if (!started.ready) {
      for (const item of started.asks ?? []) await writer.push(item);
      return writer.finish(this.#outcome(started.outcome));
    }
    if (claimed.isElsewhere)
      await retryStorage(policy, () => renameFolder(this.#services, claimed));
    if (!this.#holdsLease()) this.lose();
    const outcome = await this.#outcomeOf({ claimed, agent, started, writer });
    // Whatever the leg emits or does after this is not part of the run.
    this.#abort.abort(legIsOver);
    if (this.#isOver) await this.#kill();
    if (outcome === 'lost') {
      this.#services.log.warn('lease lost', { run_id: this.runId });
      this.#services.metrics.leasesLost.add(1);
      return;
    }
    // Before the end of the leg is recorded, so that readers of the end find the files.
    await this.#collectOutputs(claimed);
    const saved = await saveSnapshot(this.#services, claimed, agent);
    for (const event of saved?.events ?? []) await writer.push(event);
    if (outcome === 'cut') {
      await writer.close();
      if (writer.hasFailed) return writer.finish(this.#outcome(internalError));
      this.#traced?.endsAs({ status: 'cut' });
      const cut = { claimed, snapshot: saved?.state, policy };
      const isRecorded = !writer.isLost && (await recordCut(this.#services, cut));
      if (!isRecorded) await saved?.abandon();
      return;
    }
    await writer.finish({ ...this.#outcome(outcome), snapshot: saved?.state });
    if (writer.isLost) await saved?.abandon();
  }

  /** A leg whose verdict came during its preparation, or whose server is about to stop, never starts. */
  async #outcomeOf(work: LegWork): Promise<Ending> {
    const verdict = this.#isOver ? await this.#verdict.promise : undefined;
    // Only a leg that was asked to yield is cut.
    const isStopping = verdict === 'cut' || this.#phase === 'yielding';
    if (isStopping && canBeHandedBack(work.claimed.input, work.started.harness))
      return { status: 'yielded' };
    return verdict ?? Promise.race([this.#runLeg(work), this.#verdict.promise]);
  }

  async #runLeg({ claimed, agent, started, writer }: LegWork): Promise<Ending> {
    const { harness, input, context, repeated } = started;
    try {
      const { signal } = this.#abort;
      if (input.kind === 'continue' && input.reason !== 'answered') {
        const { run } = claimed;
        const interrupted = { runId: run.id, attempt: attemptOf(run), reason: input.reason };
        this.#output.compareWith(repeated, interrupted);
      }
      const beforePoint = () => this.#output.settle(agent, writer);
      const saveFolder = folderSaver(this.#services, claimed);
      const effects = new CallLedger(this.#services, {
        claimed,
        writer,
        signal,
        saveFolder,
        beforePoint,
        onBegin: (call) => this.#traced?.begun(call),
      });
      this.#calls = effects;
      const holdsLease = this.#holdsLease;
      const allowance = () => readAllowance(this.#services, this.runId, agent.model);
      this.#leg = harness.start(input, {
        ...context,
        signal,
        holdsLease,
        effects,
        costOf: pricing(this.#services.prices, agent.model),
        allowance,
        said: this.#output.saidBefore(input),
        ...this.#traced?.context,
      });
      this.#limitTime(agent);
      this.#begin();
      for await (const event of this.#leg) {
        if (event.type === 'end') {
          if (event.outcome === 'completed') await this.#output.settle(agent, writer);
          return this.#endOf(event, agent);
        }
        const pause = this.#output.write(event, agent, writer);
        if (pause !== undefined) await pause;
        // The verdict is the outcome: the leg must not continue to its next call.
        if (this.#isOver) break;
      }
      return failed('agent_error', 'The agent ended without saying how.');
    } catch (error) {
      this.#services.log.error('harness failed', error, { run_id: this.runId, agent: agent.name });
      return failed('internal_error', `The ${agent.framework} harness failed unexpectedly.`);
    }
  }

  /** The leg has started: asks of it what was asked while there was none. */
  #begin(): void {
    const before = this.#phase;
    if (before === 'preparing' || before === 'woken') this.#phase = 'running';
    if (before !== 'preparing') this.checkControl();
    if (before === 'yielding') this.yield();
  }

  get #isOver(): boolean {
    return this.#phase === 'over';
  }

  #endOf(event: LegEnd, agent: Agent): Ending {
    if (event.outcome === 'completed') {
      const outcome = completedWith(agent, event.output);
      // What a run keeps and what it returns are one: the session is as it was before (D-568).
      if (outcome.status === 'completed') this.#state = event.state;
      return outcome;
    }
    this.#state = event.state;
    if (event.outcome === 'error') {
      // Past the lease the agent's program was killed, which is not the agent's error.
      if (this.#holdsLease()) return agentFailure(event);
      this.lose();
      return 'lost';
    }
    const { outcome } = event;
    if (outcome !== 'yielded' && outcome !== 'cut') return { status: outcome };
    if (this.#phase === 'running') {
      return failed('agent_error', 'The agent handed its run over without being asked to.');
    }
    // Text after the last recovery point will be repeated, so readers need `run_interrupted`.
    const isWhole = outcome === 'yielded' && this.#output.isAtRecoveryPoint;
    return isWhole ? { status: 'yielded' } : 'cut';
  }

  async #collectOutputs(claimed: ClaimedLeg): Promise<void> {
    try {
      const redact = async (text: string) => (await this.#leg?.redact?.(text)) ?? text;
      await collectOutputs(this.#services, claimed, redact);
    } catch (error) {
      // The run keeps its outcome: files that were not collected are offered again after the next leg.
      this.#services.log.error('outputs could not be collected', error, { run_id: this.runId });
    }
  }

  #decide(verdict: Verdict): void {
    this.#phase = 'over';
    this.#verdict.resolve(verdict);
  }

  #outcome(outcome: RunOutcome | { status: 'waiting' | 'yielded' | 'workspace_lost' }): LegOutcome {
    this.#traced?.endsAs(outcome);
    return { ...outcome, ...this.#output.totals, state: this.#state };
  }

  async #readControlState(leg: Leg): Promise<void> {
    const claimed = this.#claimed;
    if (claimed === undefined) return;
    const run = await this.#services.store.read.runs.findById(claimed.run, this.runId);
    if (
      run === undefined ||
      isTerminalRunStatus(run.status) ||
      run.leaseEpoch !== claimed.run.leaseEpoch
    ) {
      this.#decide('lost');
    } else if (run.status === 'cancelling') {
      await this.#cancel(leg);
    } else if (run.status === 'waiting') {
      await this.#deliverAnswers(leg, claimed);
    }
  }

  /** D-24: asks the leg to end; past the grace period its processes are killed and the run ends anyway. */
  async #cancel(leg: Leg): Promise<void> {
    if (this.#phase === 'cancelling' || this.#phase === 'over') return;
    this.#phase = 'cancelling';
    const { clock, settings } = this.#services;
    this.#onClose.push(
      clock.after(settings.cancelGraceMs, () => this.#decide({ status: 'cancelled' })),
    );
    this.#abort.abort();
    await leg.cancel();
  }

  async #deliverAnswers(leg: Leg, claimed: ClaimedLeg): Promise<void> {
    const { store } = this.#services;
    const answered = await store.read.interactions.unapplied(this.runId);
    let hasDelivered = false;
    for (const interaction of answered) {
      if (!this.#holdsLease()) return this.lose();
      if (await leg.answer(interaction.requestId, answerOf(interaction))) hasDelivered = true;
    }
    if (hasDelivered) await markLiveAnswers(this.#services, claimed.holder);
  }

  #limitTime(agent: Agent): void {
    const run = this.#claimed?.run;
    if (run === undefined) return;
    const message = `The run took longer than the agent's ${agent.limits.runSeconds} s.`;
    const onTimeout = () => this.#decide(failed('run_timeout', message));
    this.#onClose.push(limitRunTime(this.#services, { run, agent, onTimeout }));
  }

  async #kill(): Promise<void> {
    await this.#leg
      ?.kill()
      .catch((error: unknown) =>
        this.#services.log.error('leg could not be killed', error, { run_id: this.runId }),
      );
  }
}

interface LegWork {
  readonly claimed: ClaimedLeg;
  readonly agent: Agent;
  readonly started: Extract<LegStart, { ready: true }>;
  readonly writer: LegWriter;
}
