/** Tables that grow with use: a statement that locks or scans one of them stops a large service. */
const growing = [
  'sessions',
  'session_states',
  'runs',
  'run_events',
  'interactions',
  'files',
  'idempotency_keys',
  'audit_rows',
  'identity_records',
  'outbox',
  'notices',
];

/** `-- contract: nothing of release 0.3 or later uses what is removed here` */
const contractMark = /^-- contract: .*\brelease \d+\.\d+/m;

interface Rule {
  readonly pattern: RegExp;
  readonly problem: string;
}

/** Changes that break a running server of the previous release. */
const breaking: readonly Rule[] = [
  {
    pattern: /\bdrop (table|column|view|index)\b/i,
    problem: 'removes something an older server may use',
  },
  { pattern: /\brename\b/i, problem: 'renames something an older server uses by its old name' },
  {
    pattern: /\balter column \w+ (set data )?type\b/i,
    problem: 'changes a type, and rewrites the table under a lock',
  },
  { pattern: /\bset not null\b/i, problem: 'forbids nulls that an older server may write' },
  { pattern: /^(truncate|delete from)\b/i, problem: 'removes rows' },
  {
    pattern: /\badd (constraint|check|unique|foreign key)\b(?![^;]*\bnot valid\b)/i,
    problem: 'checks every row under a lock, and may refuse rows that an older server writes',
  },
];

/** Returns the problems of a migration that is applied while the service runs, one line each. */
export function migrationProblems(text: string): string[] {
  const statements = text
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((each) => each.replaceAll(/\s+/g, ' ').trim());
  const isContract = contractMark.test(text);
  const made = new Set(
    statements.flatMap((each) => /^create table (?:if not exists )?(\w+)/i.exec(each)?.[1] ?? []),
  );
  return statements.flatMap((statement) => {
    const problems = isContract
      ? []
      : breaking.filter(({ pattern }) => pattern.test(statement)).map(({ problem }) => problem);
    if (isStrictColumn(statement))
      problems.push(
        'adds a column that an older server does not fill: allow null, or give a default',
      );
    const indexed = /^create (?:unique )?index (if not exists )?\w+ on (\w+)/i.exec(statement);
    const [, ifAbsent, table = ''] = indexed ?? [];
    if (ifAbsent === undefined && growing.includes(table) && !made.has(table)) {
      problems.push(
        `makes an index on ${table} that an operator cannot make beforehand: say "if not exists"`,
      );
    }
    return problems.map((problem) => `${problem}: ${statement.slice(0, 80)}`);
  });
}

function isStrictColumn(statement: string): boolean {
  const columns = statement.match(/\badd column [^,]*/gi) ?? [];
  return columns.some((column) => /\bnot null\b/i.test(column) && !/\bdefault\b/i.test(column));
}
