/** Downloadable update agents, built by `npm run build:agent` (contract 60, installer). */
import type { StoredFile } from './release-store.js';

export interface InstallerFile {
  /** `update-agent-linux-x64`, `update-agent-win-x64.exe` */
  name: string;
  /** `linux-x64` */
  runtime: string;
  kind: string;
  /** Uncompressed bytes. */
  size: number;
  /** Hex, of the uncompressed file. */
  sha256: string;
}

/** Content of `installer.json`. */
export interface InstallerManifest {
  schema: 1;
  /** Agent version. */
  version: string;
  generated_at: string;
  files: readonly InstallerFile[];
}

export type InstallerEncoding = 'br' | 'gzip';

export interface Installers {
  /** Returns the manifest of files that are being replaced now and may be inconsistent, or null. */
  getPendingManifest(): InstallerManifest | null;
  /**
   * Reads the manifest; null when none has been built.
   * @throws Error when `installer.json` is invalid
   */
  readManifest(): Promise<InstallerManifest | null>;
  /** Opens a file of the manifest, optionally compressed; null when missing. */
  open(name: string, encoding: InstallerEncoding | null): Promise<StoredFile | null>;
}
