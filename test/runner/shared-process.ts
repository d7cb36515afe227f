/**
 * Test files that share a process with others of this list, which saves loading the server for each of them. They leave
 * nothing behind (`file-end.ts`), and `clean-up.ts` fails a file that leaves a variable of the environment or fake
 * timers. The other files measure memory, start servers or agents in processes of their own, or register something for
 * the whole process.
 */
export const sharedProcess: readonly string[] = [
  'packages/{api-page,contract}/test/**/*.test.ts',
  'packages/cli/test/{device-flow,event-lines,help,money,output,server,show-run,table,times}.test.ts',
  'packages/console/test/data/**/*.test.ts',
  'packages/sdk/test/{follow,listing,operations,retries,server-sent-events,tokens,verify-webhook,wire,workspaces}.test.ts',
  'packages/server/test/{agents,app,auth,config,confined-fs,domain,egress,execution,fanout,runtime,session-folders}/**/*.test.ts',
  'packages/server/test/faults/{fencing,in-doubt,wake-ups}.test.ts',
  'packages/server/test/faults/seats/**/*.test.ts',
  'packages/server/test/harness/*.test.ts',
  'packages/server/test/harness/{a2a,ai-sdk,claude,scripted}/**/*.test.ts',
  'packages/server/test/http/**/*.test.ts',
  'packages/server/test/store/{database,migrate,migration-rules,postgres,ready-runs,release-before,row-security,run-backlog,sql,sqlite,tenant-rows}.test.ts',
  'packages/server/test/support/**/*.test.ts',
  'packages/server/test/telemetry/{metrics,run-counts}.test.ts',
  'packages/server/test/workers/{check-audit,continue-runs,event-log,feed-numbering,passes,recover,remove-session-folders,tenant-tables,tenants}.test.ts',
];
