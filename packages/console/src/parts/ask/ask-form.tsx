import type { JSX } from 'preact';
import type { AskFormProps } from './ask-form-props.ts';
import { PermissionForm } from './permission-form.tsx';
import { QuestionForm } from './question-form.tsx';

/** The content of a decision, and its buttons, which always stay in view. */
export function AskForm(props: AskFormProps): JSX.Element {
  const Form = props.ask.kind === 'permission' ? PermissionForm : QuestionForm;
  return <Form {...props} />;
}
