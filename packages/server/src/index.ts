export { examine } from './compose/doctor.ts';
export type { Finding } from './compose/finding.ts';
export { openOperator } from './compose/operator.ts';
export { type Config, readConfig } from './config/config.ts';
export { type RunningServer, runServer } from './main.ts';
export type { AuditRow } from './domain/audit.ts';
export type { Role } from './domain/member.ts';
export type { Operator } from './operator.ts';
export type { Quickstart } from './quickstart.ts';
