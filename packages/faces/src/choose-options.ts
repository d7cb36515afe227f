interface Choice {
  readonly options: readonly { readonly label: string }[];
  readonly multiple: boolean;
}

/**
 * Reads an answer: numbers and labels are options, other words are the answer itself. Returns a problem if it is none.
 */
export function chooseOptions(
  said: string,
  { options, multiple }: Choice,
): string | string[] | { readonly problem: string } {
  const parts = (multiple ? said.split(',') : [said]).map((part) => part.trim());
  if (parts.includes('')) return { problem: 'type an answer' };
  const missing = parts.find(
    (part) => options.length > 0 && /^\d+$/.test(part) && options[Number(part) - 1] === undefined,
  );
  if (missing !== undefined) {
    const range = options.length === 1 ? '1' : `1 to ${options.length}`;
    return { problem: `there is no option ${missing}; choose ${range}` };
  }
  const chosen = parts.map((part) => labelOf(part, options));
  return multiple ? chosen : (chosen[0] ?? said);
}

function labelOf(part: string, options: Choice['options']): string {
  const named = options.find(({ label }) => label.toLowerCase() === part.toLowerCase());
  return (options[Number(part) - 1] ?? named)?.label ?? part;
}
