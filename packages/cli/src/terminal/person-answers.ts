import type { InteractionRecord, Json, PermissionAnswer, QuestionDeclined } from '@convoke/sdk';
import { neededFor, reasonsOf } from './approvers.ts';
import { type Asking, ask, inTurn } from './ask.ts';
import { chooseOptions } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import { editInput } from './edit-input.ts';
import { remark, styled } from './output.ts';

/** The answer of a person at the terminal; undefined leaves the interaction for later. */
export function askPermission(
  record: AskedPermission,
  asking: Asking,
): Promise<PermissionAnswer | undefined> {
  return inTurn(() => permissionDialog(record, asking));
}

export function askQuestion(
  record: AskedQuestion,
  asking: Asking,
): Promise<string | string[] | QuestionDeclined | undefined> {
  return inTurn(() => questionDialog(record, asking));
}

type AskedPermission = Pick<
  InteractionRecord,
  'tool_name' | 'tool_input' | 'rules' | 'approvers' | 'approvals'
>;

type AskedQuestion = Pick<InteractionRecord, 'question' | 'options' | 'multiple' | 'about'>;

const choices = '[y]es, [n]o, [e]dit the input, no with a [r]eason or [l]ater';

/** Only a yes allows and only a no denies. Anything else, Enter included, is asked again. */
async function permissionDialog(
  record: AskedPermission,
  asking: Asking,
): Promise<PermissionAnswer | undefined> {
  const { tool_name, tool_input } = record;
  let input: Json | undefined = tool_input;
  let isEdited = false;
  const title = `${attention('approve')} ${printable(tool_name ?? '')}`;
  const why = [...reasonsOf(record), neededFor(record)].filter((line) => line !== undefined);
  const told = why.map((line) => `  ${dim(line)}\n`).join('');
  let shown = `\n${title} ${printable(formatted(input))}\n${told}`;
  for (;;) {
    const said = await ask(`${shown}  ${choices}? `, asking);
    shown = '';
    switch (said?.toLowerCase()) {
      case 'y':
      case 'yes':
        return { decision: 'allow', ...(isEdited && isObject(input) && { updated_input: input }) };
      case 'n':
      case 'no':
        return { decision: 'deny' };
      case 'r':
      case 'reason': {
        const message = await ask('  reason: ', asking);
        if (message) return { decision: 'deny', message };
        break;
      }
      case 'e':
      case 'edit': {
        const edited = await editInput(formatted(input), asking);
        if (edited === undefined) break;
        input = edited;
        isEdited = true;
        shown = `\n${title} ${printable(formatted(input))} (edited)\n`;
        break;
      }
      case 'l':
      case 'later':
      case undefined:
        return undefined;
      default:
        remark('  type one of the letters in brackets, then Enter');
    }
  }
}

/** Numbers are checked against the options; other words are an answer of one's own (D-242). */
async function questionDialog(
  { question, options = [], multiple = false, about }: AskedQuestion,
  asking: Asking,
): Promise<string | string[] | QuestionDeclined | undefined> {
  const listed = options.map(({ label, description }, index) => {
    const more = description === undefined ? '' : `  ${dim(printable(description))}`;
    return `  ${index + 1}. ${printable(label)}${more}`;
  });
  const several = multiple ? ', several with commas' : '';
  const what = options.length === 0 ? 'your answer' : `a number${several}, or your own words`;
  const hint = dim(`  ${what}; /decline or /later`);
  // The second option repeats the call with exactly this input.
  const { tool_name: tool, tool_input: input } = about ?? {};
  const call = tool === undefined ? undefined : indented(`${tool} ${formatted(input)}`);
  const title = `${attention('?')} ${printable(question ?? '')}`;
  let shown = ['', title, ...(call ? [call] : []), ...listed, hint, ''].join('\n');
  for (;;) {
    const said = await ask(`${shown}  > `, asking);
    shown = '';
    if (said === undefined || said === '/later') return undefined;
    if (said === '/decline') return { declined: true };
    const chosen = chooseOptions(said, { options, multiple });
    if (typeof chosen === 'object' && 'problem' in chosen) remark(`  ${chosen.problem}`);
    else return chosen;
  }
}

function formatted(input: Json | undefined): string {
  return JSON.stringify(input ?? {}, null, 2);
}

function indented(text: string): string {
  return `  ${printable(text).replaceAll('\n', '\n  ')}`;
}

function isObject(
  input: Json | undefined,
): input is { readonly [member: string]: Json | undefined } {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function attention(text: string): string {
  return styled('yellow', text, process.stderr);
}

function dim(text: string): string {
  return styled('dim', text, process.stderr);
}
