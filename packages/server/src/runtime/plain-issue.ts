const kind = /^Invalid input: expected (\w+), received (\w+)$/;
const choice = /^Invalid option: expected one of (.+)$/;
const bound = /^Too (?:big|small): expected \w+ to (be|have) (<=|>=|<|>)(.+)$/;
const bounds: Readonly<Record<string, string>> = {
  '<=': 'at most',
  '>=': 'at least',
  '<': 'less than',
  '>': 'more than',
};

/** Says why a schema refuses a value to people who have never seen zod: a key that is absent "is missing". */
export function plainIssue(message: string): string {
  const [, expected, received] = kind.exec(message) ?? [];
  if (received === 'undefined') return 'is missing';
  if (expected !== undefined && received !== undefined) {
    return `must be ${withArticle(expected)}, not ${withArticle(received)}`;
  }
  const [, choices] = choice.exec(message) ?? [];
  if (choices !== undefined) return `must be one of ${choices.replaceAll('|', ', ')}`;
  const [, verb, sign = '', most = ''] = bound.exec(message) ?? [];
  if (verb !== undefined) return `must ${verb} ${bounds[sign]} ${singular(most)}`;
  return message === 'Invalid input' ? 'is not valid' : message;
}

function withArticle(type: string): string {
  if (type === 'null' || type === 'NaN') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function singular(amount: string): string {
  return amount.startsWith('1 ') ? amount.replace(/s$/, '') : amount;
}
