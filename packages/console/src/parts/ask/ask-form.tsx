import type { JSX } from 'preact';
import type { AskFormProps } from './ask-form-props.ts';
import { PermissionForm } from './permission-form.tsx';
import { QuestionForm } from './question-form.tsx';

/** What a person decides on, and the buttons that decide, which stay in view however long it is. */
export function AskForm(props: AskFormProps): JSX.Element {
  const Form = props.ask.kind === 'permission' ? PermissionForm : QuestionForm;
  return <Form {...props} />;
}
