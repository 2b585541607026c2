/** Environment of a client: Node (node/host.ts) or a web page (browser/host.ts). */
import type { KeyChain } from './key-chain.js';
import type {
  AnswerResult,
  LicenseFileChecks,
  LicenseFileResult,
  LicenseRequest,
} from '../../lib/formats/license-text.js';
import type { Platform } from '../../lib/formats/platform.js';
import type { TextStore } from './store.js';
import type { Transport } from './transport.js';

/** Metrics of the current process. */
export interface MetricsReader {
  /** Returns the metrics; rates cover the time since the last reading. */
  read(): Record<string, number>;
  stop(): void;
}

/** Identity of this machine in update checks and licenses. */
export interface MachineIdentity {
  id: string;
  /** True when later starts have the same id; otherwise licenses take no seat for it. */
  isStable: boolean;
}

export interface ClientHost {
  exchange: Transport;
  kept: TextStore;
  queued: TextStore;
  platform: Platform;
  identifyMachine(project: string): Promise<MachineIdentity>;
  /** Returns the SHA-256, hex. */
  computeSha256(text: string): Promise<string>;
  verifyAnswer(
    answer: Readonly<Record<string, unknown>>,
    pems: readonly string[],
    question: LicenseRequest,
  ): Promise<AnswerResult>;
  verifyLicenseFile(text: string, pems: readonly string[], checks: LicenseFileChecks): Promise<LicenseFileResult>;
  /** Returns the keys that a chain leads to from a pinned one. */
  resolveFollowingKeys(pinned: readonly string[], chain: KeyChain): Promise<readonly string[]>;
  /** Returns the text of a file; null when it does not exist or files are not supported. */
  readText(path: string): Promise<string | null>;
  /** Formats a thrown value that is not an error. */
  show: (value: unknown) => string;
  /** @returns a function that removes the handler */
  watchUncaught(keep: (thrown: unknown) => void): () => void;
  /**
   * Runs work before the process or the page ends.
   * @returns a function that removes the work
   */
  runAtExit(work: () => Promise<unknown>): () => void;
  /** @returns null without a process */
  createProcessMetrics(): MetricsReader | null;
}
