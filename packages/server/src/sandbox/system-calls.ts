/** The numbers of a system call on x86-64 and on AArch64; `undefined` where the architecture does not have it. */
type Numbers = readonly [x64: number, arm64: number | undefined];

/**
 * System calls that are refused with EPERM: those that common container runtimes refuse to a program without
 * privileges. They change the machine, are shared between users, or are where most weaknesses of kernels are found;
 * ordinary programs do not need them or manage without.
 */
export const refusedCalls = {
  // Keyrings belong to a user id, which all programs of a server that runs as root share.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Code and events inside the kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  syslog: [103, 116],
  // Mounts and namespaces. `unshare`, `clone` and `clone3` depend on their arguments.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  // The machine: modules, kernels, swap, clocks, names, ports.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  acct: [163, 89],
  vhangup: [153, 58],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  uselib: [134, undefined],
  // Memory of other nodes and processes.
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
} as const satisfies Readonly<Record<string, Numbers>>;

/** System calls whose arguments decide. */
export const conditionalCalls = {
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  socket: [41, 198],
} as const satisfies Readonly<Record<string, Numbers>>;

/** `removexattrat` of Linux 6.13, the last call that was read for the lists above; the same on both architectures. */
export const newestKnownCall = 466;

/** Architectures by the name that Node uses: the column of the tables above, and the number in the kernel's records. */
export const architectures: Readonly<
  Record<string, { readonly column: 0 | 1; readonly auditNumber: number }>
> = {
  x64: { column: 0, auditNumber: 0xc000_003e },
  arm64: { column: 1, auditNumber: 0xc000_00b7 },
};
