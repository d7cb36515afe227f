import type { ScheduleRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isReady, readyFirst } from '../data/ready-agents.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { type Choice, SelectField, TextArea, TextField } from '../parts/field.tsx';
import { ScheduleTimes } from '../parts/input/schedule-times.tsx';
import { listAgents } from '../session/api.ts';
import { useResource, useTenant } from '../session/use.ts';

const overlaps = [
  { value: 'skip', label: 'Skip this time' },
  { value: 'queue', label: 'Start another run' },
];
const sessions = [
  { value: 'new', label: 'New for each run' },
  { value: 'keep', label: 'Shared by all runs' },
];

const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Creates a schedule, or changes the plan of one. */
export function ScheduleForm(props: {
  readonly schedule?: ScheduleRecord | undefined;
  readonly onClose: () => void;
  readonly onSaved: (schedule: ScheduleRecord) => void;
}): JSX.Element {
  const { schedule, onClose, onSaved } = props;
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  const choices = readyFirst(agents.data.value ?? []).map((one) => ({
    value: one.name,
    label: isReady(one) ? one.name : `${one.name} (needs a key)`,
  }));
  const [form, setForm] = useState(() => valuesOf(schedule));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const set = (change: Partial<Values>) => setForm((before) => ({ ...before, ...change }));
  const agent = form.agent === '' ? (choices[0]?.value ?? '') : form.agent;
  const save = async () => {
    const plan = { name: form.name.trim(), cron: form.cron.trim(), time_zone: form.zone.trim() };
    const overlap = form.overlap === 'queue' ? ('queue' as const) : ('skip' as const);
    const { schedules } = tenant.client;
    const saved =
      schedule === undefined
        ? await schedules.create({
            ...plan,
            overlap,
            agent_name: agent,
            session: form.session === 'keep' ? { mode: 'keep' } : { mode: 'new' },
            input: form.prompt,
          })
        : await schedules.update(schedule.id, {
            version: schedule.version,
            ...plan,
            overlap,
            input: { ...schedule.input, prompt: form.prompt },
          });
    onSaved(saved);
  };
  return (
    <FormDialog
      title={schedule === undefined ? 'Create schedule' : 'Edit schedule'}
      action="Save"
      isReady={form.name.trim() !== '' && form.prompt.trim() !== '' && problem === undefined}
      onSubmit={save}
      onClose={onClose}
    >
      <Fields
        form={{ ...form, agent }}
        agents={choices}
        isNew={schedule === undefined}
        problem={problem}
        onProblem={setProblem}
        onChange={set}
      />
    </FormDialog>
  );
}

function Fields(props: {
  readonly form: Values;
  readonly agents: readonly Choice[];
  readonly isNew: boolean;
  readonly problem: string | undefined;
  readonly onProblem: (problem: string | undefined) => void;
  readonly onChange: (change: Partial<Values>) => void;
}): JSX.Element {
  const { form, agents, isNew, problem, onProblem, onChange } = props;
  return (
    <>
      <TextField label="Name" value={form.name} onInput={(name) => onChange({ name })} autofocus />
      {isNew && (
        <SelectField
          label="Agent"
          value={form.agent}
          choices={agents}
          onChange={(value) => onChange({ agent: value })}
        />
      )}
      <TextArea label="Prompt" value={form.prompt} onInput={(prompt) => onChange({ prompt })} />
      <TextField
        label="Time zone"
        value={form.zone}
        onInput={(zone) => onChange({ zone })}
        suggestions={timeZones}
      />
      <ScheduleTimes
        cron={form.cron}
        zone={form.zone}
        problem={problem}
        onProblem={onProblem}
        onChange={(cron) => onChange({ cron })}
      />
      <SelectField
        label="If the last run is still active"
        value={form.overlap}
        choices={overlaps}
        onChange={(overlap) => onChange({ overlap })}
      />
      {isNew && (
        <SelectField
          label="Session"
          value={form.session}
          choices={sessions}
          onChange={(session) => onChange({ session })}
        />
      )}
    </>
  );
}

interface Values {
  readonly name: string;
  readonly agent: string;
  readonly prompt: string;
  readonly cron: string;
  readonly zone: string;
  readonly overlap: string;
  readonly session: string;
}

function valuesOf(schedule: ScheduleRecord | undefined): Values {
  const prompt = schedule?.input['prompt'];
  return {
    name: schedule?.name ?? '',
    agent: schedule?.agent_name ?? '',
    prompt: typeof prompt === 'string' ? prompt : '',
    cron: schedule?.cron ?? '0 9 * * 1-5',
    zone: schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    overlap: schedule?.overlap ?? 'skip',
    session: schedule?.session.mode ?? 'new',
  };
}
