import { type Scope, isScope } from '@convoke/contract';
import { refuseToken } from './token-refusal.ts';

/** Reads the `scope` of a token request: a caller may request fewer scopes than it has, never more. */
export function narrowed(
  granted: readonly Scope[],
  requested: string | undefined,
): readonly Scope[] {
  if (requested === undefined) return granted;
  const wanted = new Set(requested.split(' ').filter((scope) => scope !== ''));
  const isGranted = (scope: string) => isScope(scope) && granted.includes(scope);
  if (wanted.size === 0 || ![...wanted].every(isGranted)) return refuseToken('invalid_scope');
  return granted.filter((scope) => wanted.has(scope));
}
