/**
 * Test files that share a process with others of this list, which saves loading the server for each of them. They work
 * in one process only and leave nothing behind (`file-end.ts`); the other files start processes, change the environment,
 * or measure memory.
 */
export const sharedProcess: readonly string[] = [
  'packages/{api-page,contract}/test/**/*.test.ts',
  'packages/server/test/{agents,app,auth,config,confined-fs,domain,egress,execution,runtime,session-folders}/**/*.test.ts',
  'packages/server/test/http/*.test.ts',
  'packages/server/test/http/management/**/*.test.ts',
];
