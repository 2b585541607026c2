/** The update agents that `npm run build:agent` made, as they are given to machines (contract 60, installer). */
import type { StoredFile } from './release-store.js';

export interface InstallerFile {
  /** `update-agent-linux-x64`, `update-agent-win-x64.exe` */
  name: string;
  /** `linux-x64` */
  runtime: string;
  kind: string;
  /** Bytes, as it is run. */
  size: number;
  /** Hex, as it is run. */
  sha256: string;
}

/** `installer.json`. */
export interface InstallerManifest {
  schema: 1;
  /** Of the agents. */
  version: string;
  generated_at: string;
  files: readonly InstallerFile[];
}

export type Encoding = 'br' | 'gzip';

export interface Installers {
  /**
   * What is being put in place now: some hundred megabytes, and the files that are there need not belong together.
   * Null: none.
   */
  placing(): InstallerManifest | null;
  /** Null: none has been built. @throws Error when `installer.json` is there and cannot be read as one */
  manifest(): Promise<InstallerManifest | null>;
  /** A file of the manifest, or a compressed form of it; null: it is not there. */
  open(name: string, encoding: Encoding | null): Promise<StoredFile | null>;
}
