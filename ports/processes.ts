/**
 * Identifies processes of this host. A lease names its owner, so that a dead owner on the same host
 * is replaced without waiting (contract 30, runs).
 */
export interface ProcessOwner {
  host: string;
  pid: number;
  /** Distinguishes processes with the same pid. */
  started: string | null;
}

export interface Processes {
  getSelf(): Promise<ProcessOwner>;
  /** True only if the process ran on this host and has certainly ended. */
  isDead(owner: ProcessOwner): Promise<boolean>;
}
