import type { Answer, InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type Ask,
  askOfRecord,
  askTitle,
  deciderText,
  inputOf,
  outcomeText,
  rememberedText,
} from '../../data/ask.ts';
import { inBackground } from '../../data/in-background.ts';
import { comparableText, jsonParts } from '../../data/json-text.ts';
import { mayNotAllow, wasTooLate } from '../../data/problems.ts';
import { addressOf } from '../../data/routes.ts';
import { findInteraction } from '../../session/api.ts';
import { personName } from '../../session/session.ts';
import { useResource, useRight, useTenant } from '../../session/use.ts';
import { settings } from '../../page/settings.ts';
import { isInText } from '../../page/shortcuts.ts';
import { AskForm } from './ask-form.tsx';
import type { AskFormHandle } from './ask-form-props.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { useAction } from '../dialog.tsx';
import { AskReasons } from './approvers.tsx';
import { Difference } from '../input/difference.tsx';
import { LostChanges, MissingAccount } from './service-question.tsx';
import { FileChange } from '../input/file-change.tsx';
import { WholeJson } from '../json-tree.tsx';
import { ProblemNote } from '../problem.tsx';
import { Time, Until } from '../time.tsx';

/** The buttons work this long after the card appeared: a click that was meant for another card does nothing. */
const armMs = 400;

export interface AskCardProps {
  readonly ask: Ask;
  /** Called with the record that the server has stored. Late: another answer was first. */
  readonly onAnswered?: ((record: InteractionRecord, isLate: boolean) => void) | undefined;
  /** Takes the focus, so that its keys work: in the inbox. */
  readonly hasFocus?: boolean | undefined;
}

/**
 * One thing that waits for a person, with everything it is about. Nothing is optimistic: the card changes when the
 * server has recorded the answer, and shows whose answer counted.
 */
export function AskCard(props: AskCardProps): JSX.Element {
  const mayAnswer = useRight('interactions:write');
  const frame = useRef<HTMLElement>(null);
  const form = useRef<AskFormHandle>(null);
  const { ask, wasLate, answer, isBusy, error } = useShown(props, frame);
  const isOpen = ask.status === 'pending';
  const input = useInputParts(ask);

  const isArmed = useArmed(props.ask.key);
  useEffect(() => {
    if (props.hasFocus === true) focusIn(frame.current);
  }, [props.ask.key]);

  // The button that opened the last part is gone; without the focus the keys of the card would do nothing.
  useLayoutEffect(() => {
    if (!input.isCut && input.shown > 1) frame.current?.focus({ preventScroll: true });
  }, [input.isCut]);

  const keepFocus = useKeptFocus(frame, isOpen);
  const press = (event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isTaken(event) || !isPlain || !settings.hasShortcuts.value || !isOpen || !isArmed) return;
    if (form.current?.press(event.key) === true) event.preventDefault();
  };
  return (
    <section
      class={`ask ${isOpen ? '' : 'settled'}`}
      data-request={isOpen ? 'open' : 'settled'}
      ref={frame}
      tabIndex={-1}
      aria-label={`${ask.kind === 'permission' ? 'Permission' : 'Question'}: ${askTitle(ask)}`}
      onKeyDown={press}
    >
      <AskHeader ask={ask} />
      <div class="card-body">
        {isOpen && mayAnswer ? (
          <AskForm
            key={ask.key}
            handle={form}
            ask={ask}
            isReady={isArmed && !isBusy}
            isWholeShown={!input.isCut}
            onAnswer={(given) => {
              keepFocus();
              answer(given);
            }}
          >
            <AskSubject ask={ask} input={input} />
          </AskForm>
        ) : (
          <AskSubject ask={ask} input={input} />
        )}
        {isOpen && !mayAnswer && (
          <p class="muted">Your role can view this request but not answer it. Ask an operator.</p>
        )}
        {!isOpen && <Outcome ask={ask} wasLate={wasLate} />}
        {error !== undefined && <ProblemNote error={error} />}
      </div>
    </section>
  );
}

/** The request as this page knows it, and the means to answer it. */
function useShown(
  { ask: given, onAnswered }: AskCardProps,
  frame: { readonly current: HTMLElement | null },
) {
  const [recorded, setRecorded] = useState<Ask | undefined>(undefined);
  const [refused, setRefused] = useState<Ask | undefined>(undefined);
  const [wasLate, setLate] = useState(false);
  const ask = useAllowing(recorded?.key === given.key ? recorded : withRefusal(given, refused));
  useEffect(() => setLate(false), [given.key]);
  const answering = useAnswer(ask, {
    onRecord: (record, isLate) => {
      setRecorded({ ...askOfRecord(record), agentName: ask.agentName, caller: ask.caller });
      setLate(isLate);
      onAnswered?.(record, isLate);
    },
    onRefused: (record) => {
      setRefused(askOfRecord(record));
      // The button that had the focus is gone.
      frame.current?.focus({ preventScroll: true });
    },
  });
  return { ask, wasLate, ...answering };
}

/**
 * With what a refused answer has shown: the rules as they are now, and that this person may not allow the call by them.
 */
function withRefusal(ask: Ask, refused: Ask | undefined): Ask {
  if (refused?.key !== ask.key || ask.status !== 'pending') return ask;
  const { rules, approvers, canAllow } = refused;
  return { ...ask, rules, approvers, canAllow };
}

/** The events of a run say who may allow a call, and not whether this person may; the record does. */
function useAllowing(ask: Ask): Ask {
  const tenant = useTenant();
  const isKnown =
    ask.approvers === undefined || ask.canAllow !== undefined || ask.status !== 'pending';
  const found = useResource(`${tenant.tenantId}/allowing/${isKnown ? 'known' : ask.key}`, () =>
    isKnown ? Promise.resolve(undefined) : findInteraction(tenant, ask.key),
  );
  useRefreshOnNotice(
    ({ type, data: about }) =>
      !isKnown && type === 'interaction_approved' && about.interaction_key === ask.key,
    () => found.refresh(),
  );
  const record = found.data.value;
  if (isKnown || record === undefined) return ask;
  return { ...ask, approvals: record.approvals, canAllow: record.can_allow };
}

/** False for a moment after another request has appeared. */
function useArmed(key: string): boolean {
  const [armed, setArmed] = useState<string | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(key), armMs);
    return () => clearTimeout(timer);
  }, [key]);
  return armed === key;
}

/** The keys of a card work at once. A card whose beginning is in view stays where it is. */
function focusIn(card: HTMLElement | null): void {
  if (card === null) return;
  const { top } = card.getBoundingClientRect();
  const isInView = top >= 0 && top < innerHeight / 2;
  card.focus({ preventScroll: isInView });
}

/** The key belongs to a field, to an open menu, or presses what has the focus: it decides nothing about the card. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (isInText(target)) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[data-menu]') !== null) return true;
  return key === 'Enter' && target.matches('button, a, summary');
}

/**
 * The form is gone with its answer; the card keeps the focus that was inside, so that the keyboard stays where it was.
 */
function useKeptFocus(frame: { readonly current: HTMLElement | null }, isOpen: boolean) {
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (isOpen || !hadFocus.current) return;
    hadFocus.current = false;
    frame.current?.focus({ preventScroll: true });
  }, [isOpen]);
  return () => {
    hadFocus.current = frame.current?.contains(document.activeElement) === true;
  };
}

interface InputParts {
  readonly parts: readonly string[];
  readonly shown: number;
  /** Something of the input has not been on the page yet. */
  readonly isCut: boolean;
  readonly onShowNext: () => void;
}

/** How much of the input a person has opened, counted per ask: the next ask in the same card starts closed. */
function useInputParts(ask: Ask): InputParts {
  const [opened, setOpened] = useState({ key: ask.key, shown: 1 });
  const value = inputOf(ask);
  const parts = useMemo(() => jsonParts(value), [value]);
  const shown = opened.key === ask.key ? opened.shown : 1;
  const onShowNext = () => setOpened({ key: ask.key, shown: shown + 1 });
  return { parts, shown, isCut: shown < parts.length, onShowNext };
}

interface AnswerHandlers {
  readonly onRecord: (record: InteractionRecord, isLate: boolean) => void;
  /** Given the record that says who may allow the call by now. */
  readonly onRefused: (record: InteractionRecord) => void;
}

/** Sends an answer. If another person or tab was first, reads its answer; if it is refused, who may allow it. */
function useAnswer(ask: Ask, { onRecord, onRefused }: AnswerHandlers) {
  const tenant = useTenant();
  const { isBusy, error, run } = useAction(async (given: Answer) => {
    const { interactions } = tenant.client.sessions.at(ask.sessionId);
    try {
      onRecord(await interactions.answer(ask.key, given), false);
    } catch (problem) {
      if (wasTooLate(problem)) return onRecord(await findInteraction(tenant, ask.key), true);
      if (mayNotAllow(problem)) onRefused(await findInteraction(tenant, ask.key));
      throw problem;
    }
  });
  return { answer: (given: Answer) => inBackground(run(given)), isBusy, error };
}

function AskHeader({ ask }: { readonly ask: Ask }): JSX.Element {
  const isOpen = ask.status === 'pending';
  return (
    <>
      <header>
        <strong>
          {isOpen && (
            <span class="waiting" aria-hidden="true">
              ◆{' '}
            </span>
          )}
          {ask.kind === 'permission' ? (
            <>
              {`${ask.agentName ?? 'The agent'} ${isOpen ? 'wants' : 'wanted'} to run `}
              <code>{askTitle(ask)}</code>
            </>
          ) : ask.about === undefined || ask.about.kind === 'connection_missing' ? (
            askTitle(ask)
          ) : (
            (ask.question ?? '')
          )}
        </strong>
        <span class="muted small">
          asked <Time at={ask.createdAt} />
          {isOpen && ask.expiresAt !== undefined && (
            <>
              {' · '}
              <Until at={ask.expiresAt} before="expires" />
            </>
          )}
          {ask.caller !== undefined && <Caller {...ask.caller} />}
        </span>
      </header>
      <AskReasons ask={ask} />
    </>
  );
}

function Caller({ runId, agentName }: NonNullable<Ask['caller']>): JSX.Element {
  const { tenantId } = useTenant();
  return (
    <small>
      {' · called by '}
      <a href={addressOf('run', { tenant: tenantId, run: runId })}>{agentName ?? 'another run'}</a>
    </small>
  );
}

/** The whole input of the tool: a person decides on all of it, or on nothing. */
function AskSubject(props: { readonly ask: Ask; readonly input: InputParts }): JSX.Element | null {
  const { ask, input } = props;
  const { parts, shown, onShowNext } = input;
  const box = (
    <div class="input-box">
      <WholeJson value={inputOf(ask)} parts={parts} shown={shown} onShowNext={onShowNext} />
    </div>
  );
  if (ask.about?.kind === 'workspace_behind') return <LostChanges calls={ask.about.calls ?? []} />;
  if (ask.about?.kind === 'connection_missing') return <MissingAccount {...ask.about} />;
  if (ask.about !== undefined) {
    const { tool_name: toolName = 'a tool', begun_at: begunAt } = ask.about;
    return (
      <div class="stack tight">
        <p>
          <code>{toolName}</code> has no recorded result. Check whether the call took effect before
          you answer.
          {begunAt !== undefined && (
            <>
              {' '}
              It started <Time at={begunAt} />.
            </>
          )}
        </p>
        {box}
      </div>
    );
  }
  if (ask.kind !== 'permission') return null;
  return (
    <>
      {box}
      {ask.status === 'pending' && <FileChange key={ask.key} ask={ask} />}
    </>
  );
}

/** Who decided what, when, and with which change: the evidence that stays. */
function Outcome(props: { readonly ask: Ask; readonly wasLate: boolean }): JSX.Element {
  const ask = useWhoAnswered(props.ask);
  const { outcome, status } = ask;
  if (outcome === undefined) {
    const words = status === 'expired' ? 'Expired without an answer.' : 'The run ended first.';
    return <p class="outcome muted">{`⊘ ${words}`}</p>;
  }
  const { glyph, words, tone } = outcomeText(outcome);
  const decider = deciderText(outcome);
  return (
    <div class="outcome stack tight">
      <p role={props.wasLate ? 'alert' : undefined}>
        {props.wasLate && <strong>Your answer came too late. </strong>}
        <span class={tone}>
          {glyph} <strong>{words}</strong>
        </span>
        {outcome.remembered !== undefined &&
          `, and ${rememberedText(outcome.remembered, ask.toolName)},`}
        {decider !== undefined && ` ${decider}`}
        {outcome.by !== undefined && (
          <span title={outcome.by}>{` by ${outcome.byName ?? personName(outcome.by)}`}</span>
        )}
        {outcome.at !== undefined && (
          <span class="muted">
            {' · '}
            <Time at={outcome.at} />
          </span>
        )}
        {outcome.message !== undefined && `: “${outcome.message}”`}
      </p>
      {outcome.updatedInput !== undefined && ask.toolInput !== undefined && (
        <Difference
          label="Changes to the input"
          before={comparableText(ask.toolInput)}
          after={comparableText(outcome.updatedInput)}
        />
      )}
    </div>
  );
}

/** The events of a run do not name the person who answered; the record does. */
function useWhoAnswered(ask: Ask): Ask {
  const tenant = useTenant();
  const { outcome } = ask;
  const isKnown =
    outcome === undefined || outcome.by !== undefined || outcome.decidedBy !== undefined;
  const found = useResource(`${tenant.tenantId}/answered/${isKnown ? 'known' : ask.key}`, () =>
    isKnown ? Promise.resolve(undefined) : findInteraction(tenant, ask.key),
  );
  const record = found.data.value;
  if (isKnown || record === undefined) return ask;
  return {
    ...ask,
    outcome: { ...outcome, by: record.answered_by, byName: record.answered_by_name },
  };
}
