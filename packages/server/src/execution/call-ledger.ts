import type { Services } from '../app/services.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';
import type { Json } from '../domain/json.ts';
import type { CallResult } from '../domain/run/tool-call.ts';
import type {
  BeginOutcome,
  CallToDecide,
  DecideOutcome,
  Effects,
  NewCall,
} from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import {
  decisionAbout,
  isNamed,
  isSilent,
  readAnswers,
  readDenials,
  standingOf,
} from './recording/decide-calls.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import { retryStorage } from '../runtime/retry-storage.ts';
import type { SaveFolder } from './folders/save-before-call.ts';

/** Agents as code refuse a larger result themselves, and store with it what its step said (D-176). */
const outputMaxCharacters = 1024 * 1024;

export interface LedgerParts {
  readonly claimed: ClaimedLeg;
  readonly writer: LegWriter;
  /** Aborted when the leg is over: no call may begin any more. */
  readonly signal: AbortSignal;
  readonly saveFolder: SaveFolder;
  /** Called when a call may begin. */
  readonly onBegin?: (call: NewCall) => void;
  /** Called before a recovery point is stored with a result. */
  readonly beforePoint?: () => Promise<void> | undefined;
}

type LedgerServices = Pick<Services, 'clock' | 'store' | 'knownRules'>;

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export class CallLedger implements Effects {
  readonly #services: LedgerServices;
  readonly #parts: LedgerParts;
  /** A call is begun once per leg, however often the harness asks. */
  readonly #known = new Set<string>();
  readonly #inFlight = new Set<string>();
  /** Free calls that no rule is about (D-508). */
  readonly #unwritten = new Set<string>();
  /** Calls in flight that may change the session folder. */
  readonly #changing = new Set<string>();
  /** Whether this leg has compared the version of the organization's rules: every call that begins does so, too. */
  #hasCompared = false;
  /** Resolves when the folder is no longer being archived: until then no call begins. */
  #saving: Promise<void> | undefined;

  constructor(services: LedgerServices, parts: LedgerParts) {
    this.#services = services;
    this.#parts = parts;
  }

  /** Calls that have begun and not ended. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  async begin(call: NewCall): Promise<BeginOutcome> {
    const { signal } = this.#parts;
    const { ref } = call;
    if (this.#known.has(ref) || signal.aborted) return { kind: 'left' };
    this.#known.add(ref);
    if (call.isFree === true && !(await this.#isNamed(call))) {
      const denied = await this.#deniedBefore(call);
      if (denied === undefined) this.#unwritten.add(ref);
      else this.#known.delete(ref);
      return denied ?? { kind: 'begun' };
    }
    this.#inFlight.add(ref);
    const begun = await this.#beginInTurn(call);
    // An intent that became durable in the meantime is in doubt: harmless, and the only safe reading.
    if (begun.kind === 'begun' && !signal.aborted) {
      this.#parts.onBegin?.(call);
      return begun;
    }
    this.#forget(ref);
    if (begun.kind === 'begun') return { kind: 'left' };
    // It can be begun after a person has answered.
    if (begun.kind !== 'left') this.#known.delete(ref);
    return begun;
  }

  async decide(call: CallToDecide, when?: 'lately'): Promise<DecideOutcome> {
    const { claimed, signal } = this.#parts;
    if (signal.aborted) return { kind: 'left' };
    if (when === 'lately' && this.#hasCompared) {
      const deciding = this.#decidingAsKnown();
      const isFree = isSilent(decisionAbout(deciding, call));
      if (isFree) return { kind: 'allowed', isNamed: isNamed(deciding, call) };
    }
    return this.#read(async (read): Promise<DecideOutcome> => {
      const deciding = await this.#deciding();
      const decision = decisionAbout(deciding, call);
      const { holder } = claimed;
      const answers = isSilent(decision)
        ? await readDenials(read, holder, [call.ref])
        : await readAnswers(read, { deciding, calls: [call] });
      const standing = standingOf(call, decision, answers);
      if (standing.kind === 'denied') return { kind: 'denied', reason: standing.reason };
      if (standing.kind === 'ask') return standing;
      return { kind: 'allowed', isNamed: call.kind === undefined && isNamed(deciding, call) };
    });
  }

  async end(ref: string, { ok, output }: CallResult, point?: Json): Promise<void> {
    const { claimed, writer, beforePoint } = this.#parts;
    if (this.#unwritten.delete(ref)) return;
    const { epoch } = claimed.holder;
    if (point !== undefined) await beforePoint?.();
    const result = { ok, output: output.slice(0, outputMaxCharacters) };
    await writer.endCall({ ref, epoch, result, endedAt: this.#services.clock.now() }, point);
    this.#forget(ref);
  }

  key(ref: string): string {
    return `${this.#parts.claimed.holder.runId}.${ref}`;
  }

  /** Whether a rule may decide about the tool, by the current rules. */
  async #isNamed({ toolName, kind }: NewCall): Promise<boolean> {
    if (kind !== undefined) return false;
    return isNamed(await this.#read(() => this.#deciding()), { toolName });
  }

  /** The denial of an earlier leg, by a rule that does not name the tool any more (D-510). */
  async #deniedBefore(
    call: NewCall,
  ): Promise<Extract<BeginOutcome, { kind: 'denied' }> | undefined> {
    const { claimed, writer } = this.#parts;
    if (writer.isUnasked) return undefined;
    const answers = await this.#read((read) => readDenials(read, claimed.holder, [call.ref]));
    const standing = standingOf(call, undefined, answers);
    return standing.kind === 'denied' ? { kind: 'denied', reason: standing.reason } : undefined;
  }

  async #deciding() {
    const { knownRules, store } = this.#services;
    const { claimed, writer } = this.#parts;
    const { rules } = writer;
    const { holder } = claimed;
    const { organizationId } = holder.scope;
    const organization = await knownRules.current(store.read, organizationId);
    this.#hasCompared = true;
    return { holder, rules, organization };
  }

  /** With the rules that this server knows. */
  #decidingAsKnown() {
    const { claimed, writer } = this.#parts;
    const { holder } = claimed;
    const organization = this.#services.knownRules.get(holder.scope.organizationId);
    return { holder, rules: writer.rules, organization };
  }

  #read<T>(work: (read: Services['store']['read']) => Promise<T>): Promise<T> {
    const { clock, store } = this.#services;
    const { signal } = this.#parts;
    return retryStorage({ clock, shouldRetry: () => !signal.aborted }, () => work(store.read));
  }

  async #beginInTurn({ isFree, ...call }: NewCall): Promise<BeginOutcome> {
    const { claimed, writer } = this.#parts;
    const known = call.touches === 'outside' ? this.#mayBegin(call) : true;
    // Without a wait where nothing is read: calls take their turns in the order in which they are begun.
    const mayBegin = typeof known === 'boolean' ? known : await known;
    while (this.#saving !== undefined) await this.#saving;
    const { epoch } = claimed.holder;
    const intent = { ...call, ...(isFree === true && { isRepeatable: true }) };
    const write = (snapshot?: FolderState) =>
      writer.beginCall({ ...intent, epoch, begunAt: this.#services.clock.now() }, snapshot);
    if (call.touches !== 'outside') {
      this.#changing.add(call.ref);
      return write();
    }
    // An archive of a folder that is being changed would have half of a change; one that may be repeated needs none,
    // and neither does one that does not begin.
    const isSaved = this.#changing.size === 0 && intent.isRepeatable !== true && mayBegin;
    return isSaved ? this.#beginSaved(write) : write();
  }

  /** By the rules that this server knows; only if one of them is about the call, by those of now. */
  #mayBegin(call: NewCall): boolean | Promise<boolean> {
    if (isSilent(decisionAbout(this.#decidingAsKnown(), call))) return true;
    return this.decide(call).then(({ kind }) => kind === 'allowed');
  }

  async #beginSaved(
    write: (snapshot?: FolderState) => Promise<BeginOutcome>,
  ): Promise<BeginOutcome> {
    const { saveFolder, signal } = this.#parts;
    const turn = Promise.withResolvers<void>();
    this.#saving = turn.promise;
    const release = () => {
      if (this.#saving === turn.promise) this.#saving = undefined;
      turn.resolve();
    };
    try {
      const saved = await saveFolder();
      // Other calls then share the commit.
      if (saved === undefined) release();
      const begun: BeginOutcome = signal.aborted ? { kind: 'left' } : await write(saved?.state);
      await (begun.kind === 'begun' ? saved?.settle() : saved?.abandon());
      return begun;
    } finally {
      release();
    }
  }

  #forget(ref: string): void {
    this.#inFlight.delete(ref);
    this.#changing.delete(ref);
  }
}
