/** What a client needs of where it runs: Node (node/host.ts), or a page of a browser (browser/host.ts). */
import type { KeyChain } from './key-chain.js';
import type {
  AnswerResult,
  LicenseFileChecks,
  LicenseFileResult,
  LicenseRequest,
} from '../../lib/formats/license-text.js';
import type { Platform } from '../../lib/formats/platform.js';
import type { Store } from './store.js';
import type { Transport } from './transport.js';

/** The figures of the program's own process. */
export interface Meter {
  /** Since the last reading, where that is what a figure is of. */
  read(): Record<string, number>;
  stop(): void;
}

/** What this machine is called in update checks and licenses. */
export interface MachineIdentity {
  id: string;
  /** Later starts have the same id; false: licenses take no seat for it. */
  isStable: boolean;
}

export interface Host {
  exchange: Transport;
  /** For the cache. */
  kept: Store;
  /** For reports that wait. */
  queued: Store;
  platform: Platform;
  identifyMachine(project: string): Promise<MachineIdentity>;
  /** Hex. */
  sha256(text: string): Promise<string>;
  verifyAnswer(
    answer: Readonly<Record<string, unknown>>,
    pems: readonly string[],
    question: LicenseRequest,
  ): Promise<AnswerResult>;
  verifyLicenseFile(text: string, pems: readonly string[], checks: LicenseFileChecks): Promise<LicenseFileResult>;
  /** The keys that a chain leads to from a pinned one. */
  keysFollowed(pinned: readonly string[], chain: KeyChain): Promise<readonly string[]>;
  /** The text of a file; null: there is none, or there are no files. */
  readText(path: string): Promise<string | null>;
  /** A value that was thrown and is no error, in words. */
  show: (value: unknown) => string;
  /** @returns a function that takes the handler away */
  onUncaught(keep: (thrown: unknown) => void): () => void;
  /** Null: no process of its own. */
  processMetrics(): Meter | null;
}
