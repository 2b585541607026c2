/**
 * Processes of this machine: who we are, and whether another one is still there. So a lease in the store names its
 * owner, and a dead owner on the same host need not be waited for (contract 30, runs).
 */
export interface ProcessOwner {
  host: string;
  pid: number;
  /** What distinguishes it from a later process of the same pid, where the system knows; else null. */
  started: string | null;
}

export interface Processes {
  self(): Promise<ProcessOwner>;
  /** True only when it ran on this host and is certainly gone. */
  dead(owner: ProcessOwner): Promise<boolean>;
}
