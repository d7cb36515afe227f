import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { cronProblem, nextTimes } from '../../data/schedule/next-times.ts';
import {
  type Rhythm,
  cronOf,
  rhythmOf,
  scheduleWords,
  weekdays,
} from '../../data/schedule/schedule-words.ts';
import { SelectField, TextField } from '../field.tsx';

const kinds = [
  { value: 'hour', label: 'Every hour' },
  { value: 'day', label: 'Every day' },
  { value: 'weekday', label: 'Every weekday' },
  { value: 'week', label: 'Every week' },
  { value: 'month', label: 'Every month' },
  { value: 'custom', label: 'Custom (cron)' },
] as const;

/** When a schedule runs, in words where there are any. */
export function Plan({ cron }: { readonly cron: string }): JSX.Element {
  const words = scheduleWords(cron);
  return words === cron ? <code>{cron}</code> : <span title={cron}>{words}</span>;
}

/**
 * When a schedule runs: in words, or as a cron expression; each changes the other. Shows the next times while typing.
 */
export function ScheduleTimes(props: {
  readonly cron: string;
  readonly zone: string;
  /** Why the times cannot be worked out; undefined where they can. */
  readonly problem: string | undefined;
  readonly onProblem: (problem: string | undefined) => void;
  readonly onChange: (cron: string) => void;
}): JSX.Element {
  const { cron, zone, problem, onChange } = props;
  const [isCustom, setCustom] = useState(false);
  const rhythm = rhythmOf(cron);
  const kind = isCustom ? 'custom' : rhythm.kind;
  const set = (change: Partial<Rhythm>) => {
    const next = { ...rhythm, ...change };
    setCustom(next.kind === 'custom');
    onChange(cronOf(next) ?? cron);
  };
  return (
    <>
      <div class="field-row">
        <SelectField
          label="Repeat"
          value={kind}
          choices={kinds}
          onChange={(value) =>
            set({ kind: kinds.find((one) => one.value === value)?.value ?? 'custom' })
          }
        />
        {kind === 'week' && (
          <SelectField
            label="On"
            value={rhythm.weekday}
            choices={weekdays.map((label, index) => ({ value: String(index), label }))}
            onChange={(weekday) => set({ weekday })}
          />
        )}
        {kind === 'month' && (
          <SelectField
            label="On day"
            value={rhythm.day}
            choices={monthDays}
            onChange={(day) => set({ day })}
          />
        )}
        {kind !== 'custom' && (
          <TextField label="At" clock value={rhythm.time} onInput={(time) => set({ time })} />
        )}
      </div>
      <TextField
        label="Cron expression"
        value={cron}
        onInput={onChange}
        hint="Minute, hour, day of month, month, weekday."
        wrong={problem}
      />
      <NextTimes cron={cron} zone={zone} onProblem={props.onProblem} />
    </>
  );
}

const monthDays = Array.from({ length: 31 }, (_, index) => {
  const value = String(index + 1);
  return { value, label: value };
});

const shown = 3;

/** Keeps the last answer while the next is worked out, so that nothing jumps with each key. */
function NextTimes(props: {
  readonly cron: string;
  readonly zone: string;
  readonly onProblem: (problem: string | undefined) => void;
}): JSX.Element {
  const { cron, zone, onProblem } = props;
  const [said, setSaid] = useState('');
  useEffect(() => {
    let isLast = true;
    const say = (text: string, problem?: string) => {
      if (!isLast) return;
      setSaid(text);
      onProblem(problem);
    };
    nextTimes(cron.trim(), zone.trim(), shown).then(
      (times) => say(times.length === 0 ? 'No future runs.' : `Next: ${times.join(' · ')}`),
      (error: unknown) => say('', cronProblem(error)),
    );
    return () => {
      isLast = false;
    };
  }, [cron, zone]);
  const words = scheduleWords(cron.trim());
  return (
    <p class="muted small" role="status">
      {said !== '' && words !== cron.trim() && <strong>{words}. </strong>}
      {said}
    </p>
  );
}
